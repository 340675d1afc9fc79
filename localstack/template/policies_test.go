package template

import (
	"maps"
	"slices"
	"strings"
)

// statement is one of a policy.
type statement struct {
	sid, effect, principal string // the principal's services or accounts, separated by blanks
	actions, resources     []string
	condition              any
	other                  []string // its elements that are none of these, such as NotAction
}

func statements(document any) (all []statement) {
	for _, one := range list(At(document, "Statement")) {
		m, _ := one.(map[string]any)
		st := statement{
			sid: text(m["Sid"]), effect: text(m["Effect"]), condition: m["Condition"],
			actions: toTexts(list(m["Action"])), resources: toTexts(list(m["Resource"])),
		}
		switch p := m["Principal"].(type) {
		case map[string]any:
			for _, kind := range slices.Sorted(maps.Keys(p)) {
				st.principal += strings.Join(toTexts(list(p[kind])), " ")
			}
		case string:
			st.principal = p
		}
		for element := range m {
			if !slices.Contains([]string{"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}, element) {
				st.other = append(st.other, element)
			}
		}
		all = append(all, st)
	}
	return all
}

// inline are the statements of a role's own policies.
func inline(role *Resource) (all []statement) {
	if role == nil {
		return nil
	}
	for _, policy := range list(role.Properties["Policies"]) {
		all = append(all, statements(At(policy, "PolicyDocument"))...)
	}
	return all
}

// without are the texts that are not among others.
func without(texts, others []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return slices.Contains(others, t) })
}
