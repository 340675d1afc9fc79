package template

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mutation is one mistake in the template, and the check that has to find it, by words of the fault.
type mutation struct {
	check, what string
	at          string // the place, as keys and numbers with slashes between; a statement goes by its Sid
	to          any    // what stands there then; nil: nothing, and renamed: the same under another name
	says        string
}

// renamed is a mutation's new name for what stands at its place.
type renamed string

// Functions in their long form.
func ref(name string) map[string]any  { return map[string]any{"Ref": name} }
func sub(text string) map[string]any  { return map[string]any{"Fn::Sub": text} }
func itsARN(id string) map[string]any { return map[string]any{"Fn::GetAtt": []any{id, "Arn"}} }
func texts(all ...string) (list []any) {
	for _, t := range all {
		list = append(list, t)
	}
	return list
}

// TestRenamesAreFound makes one mistake after the other in a copy of the template: the check that is there for it finds it.
func TestRenamesAreFound(t *testing.T) {
	tried := map[string]bool{}
	plain := unwatched(source(t))
	for _, m := range slices.Concat(mutationsOfFunctions, mutationsOfTables, mutationsOfQueues, mutationsOfRoles, mutationsOfReferences, mutationsOfIngress, mutationsOfChanges) {
		tried[m.check] = true
		t.Run(m.check+"/"+m.what, func(t *testing.T) {
			tpl := Template(copied(map[string]any(plain)).(map[string]any))
			if err := m.apply(tpl); err != nil {
				t.Fatal(err)
			}
			found := grouped(checks[m.check](viewsOf(t, tpl)))
			if !slices.ContainsFunc(found, func(fault string) bool { return strings.Contains(fault, m.says) }) {
				t.Errorf("found %q, and nothing says %q", found, m.says)
			}
		})
	}
	if untried := without(slices.Sorted(maps.Keys(checks)), slices.Sorted(maps.Keys(tried))); len(untried) > 0 {
		t.Errorf("nothing here shows that these checks find anything: %v", untried)
	}
}

// unwatched leaves out alarms and dashboard, which have tests of their own and take more time than all the rest.
func unwatched(tpl Template) Template {
	maps.DeleteFunc(tpl.section("Resources"), func(_ string, r any) bool { return strings.HasPrefix(text(At(r, "Type")), "AWS::CloudWatch::") })
	delete(tpl.section("Outputs"), "DashboardUrl")
	return tpl
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			m[key] = copied(inner)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, inner := range v {
			l[i] = copied(inner)
		}
		return l
	}
	return v
}

// apply makes the mistake.
func (m mutation) apply(tpl Template) error {
	path := strings.Split(m.at, "/")
	var holder any = map[string]any(tpl)
	for _, key := range path[:len(path)-1] {
		if holder = within(holder, key); holder == nil {
			return fmt.Errorf("there is no %s of %s", key, m.at)
		}
	}
	last := path[len(path)-1]
	switch in := holder.(type) {
	case map[string]any:
		was, there := in[last]
		if newName, ok := m.to.(renamed); ok && there {
			delete(in, last)
			in[string(newName)] = was
			return nil
		}
		if in[last] = m.to; m.to == nil {
			delete(in, last)
			if !there {
				return fmt.Errorf("there is no %s", m.at)
			}
		}
	case []any:
		n := position(in, last)
		if n < 0 {
			return fmt.Errorf("there is no %s", m.at)
		}
		if in[n] = m.to; m.to == nil {
			in[n] = ref("AWS::NoValue")
		}
	}
	return nil
}

// within is what stands under a key.
func within(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if n := position(v, key); n >= 0 {
			return v[n]
		}
	}
	return nil
}

// position is a place in a list, by its number or by the Sid of what stands there, as it is or under a condition.
func position(in []any, key string) int {
	if n, err := strconv.Atoi(key); err == nil && n < len(in) {
		return n
	}
	return slices.IndexFunc(in, func(one any) bool { return At(one, "Sid") == key })
}
