package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Under whatever parameters the template allows, nothing refers to what is not there; and what stands in a branch that is
// not taken names something of the template all the same, for CloudFormation reads it. Every condition is seen both ways.
func checkReferences(v *views) (wrong []string) {
	var f faults
	known := v.source.section("Parameters")
	names := v.transformed().section("Resources")
	for _, name := range mentioned(v.transformed()) {
		if known[name] == nil && names[name] == nil && pseudo[name] == nil {
			f.add("%s is referred to, and is neither a parameter nor a resource", name)
		}
	}
	seen := map[string][2]bool{}
	told := map[string]bool{}
	tell := func(tpl Template, set map[string]string) {
		s, err := tpl.Deploy(set)
		for name, holds := range s.Conditions {
			both := seen[name]
			both[map[bool]int{true: 1}[holds]] = true
			seen[name] = both
		}
		if err != nil && !told[err.Error()] {
			told[err.Error()] = true
			f.add("with %v: %v", set, err)
		}
	}
	sets, err := many()
	if err != nil {
		v.t.Fatal(err)
	}
	for _, set := range sets {
		tell(v.transformed(), set)
	}
	for _, set := range deployments {
		tell(v.source, set)
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] != [2]bool{true, true} {
			f.add("the condition %s is never both true and false: a parameter that it hangs on is missing among the switches of these tests", name)
		}
	}
	return f
}

// No resources wait for each other in a circle: CloudFormation could create none of them.
func checkCycles(v *views) (wrong []string) {
	var f faults
	needs := map[string][]string{}
	resources := v.transformed().section("Resources")
	for id, body := range resources {
		of := append(mentioned(body), toTexts(list(At(body, "DependsOn")))...)
		needs[id] = slices.DeleteFunc(of, func(name string) bool { return resources[name] == nil })
	}
	const being, done = 1, 2
	state := map[string]int{}
	var visit func(id string, path []string)
	visit = func(id string, path []string) {
		path = append(path, id)
		if state[id] == being {
			f.add("they wait for each other: %s", strings.Join(path[slices.Index(path, id):], " -> "))
		}
		if state[id] == 0 {
			state[id] = being
			for _, next := range needs[id] {
				visit(next, path)
			}
			state[id] = done
		}
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		visit(id, nil)
	}
	return f
}

// mentioned are the parameters and resources that something refers to, in whichever branch.
func mentioned(v any) (names []string) {
	switch v := v.(type) {
	case Template:
		return mentioned(map[string]any(v))
	case []any:
		for _, inner := range v {
			names = append(names, mentioned(inner)...)
		}
	case map[string]any:
		if name, argument, ok := function(v); ok {
			names = append(names, namesOf(name, argument)...)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			names = append(names, mentioned(v[key])...)
		}
	}
	return names
}

// namesOf are what a function names by itself, not what stands in its arguments.
func namesOf(function string, argument any) (names []string) {
	arguments := list(argument)
	switch {
	case function == "Ref":
		return []string{text(argument)}
	case function == "Fn::GetAtt":
		return []string{text(arguments[0])}
	case function != "Fn::Sub":
		return nil
	}
	var own map[string]any
	if len(arguments) == 2 {
		own, _ = arguments[1].(map[string]any)
	}
	for _, found := range placeholder.FindAllStringSubmatch(fmt.Sprint(arguments[0]), -1) {
		name, _, _ := strings.Cut(found[1], ".")
		if _, given := own[found[1]]; !given && !strings.HasPrefix(name, "!") {
			names = append(names, name)
		}
	}
	return names
}
