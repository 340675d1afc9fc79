package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Stack is a template with its parameters: no function is left in it.
type Stack struct {
	Parameters map[string]string
	Conditions map[string]bool
	Resources  map[string]*Resource // those whose condition holds, by their logical ids
	Outputs    map[string]any
}

// Resource is one of a stack's.
type Resource struct {
	ID, Type                            string
	Properties                          map[string]any
	DeletionPolicy, UpdateReplacePolicy string
	DependsOn                           []string
	Metadata                            map[string]any
}

// Deploy makes of a template what CloudFormation does with given parameters; the others have their defaults. The error
// lists every fault: a parameter that is not allowed, a rule that does not hold, a name that nothing has, a function's wrong
// use. What is there is returned all the same.
func (t Template) Deploy(parameters map[string]string) (*Stack, error) {
	d := deployment{
		template: t,
		stack:    &Stack{Conditions: map[string]bool{}, Resources: map[string]*Resource{}, Outputs: map[string]any{}},
		under:    map[string]bool{},
		names:    map[string]string{},
	}
	d.stack.Parameters = d.parameters(parameters)
	for _, name := range slices.Sorted(maps.Keys(t.section("Conditions"))) {
		d.condition(name)
	}
	d.rules()
	d.resources()
	d.outputs()
	return d.stack, errors.Join(d.faults...)
}

// Types are the stack's resources of a type, in the order of their ids.
func (s *Stack) Types(resourceType string) []*Resource {
	var of []*Resource
	for _, id := range slices.Sorted(maps.Keys(s.Resources)) {
		if s.Resources[id].Type == resourceType {
			of = append(of, s.Resources[id])
		}
	}
	return of
}

// section is a part of the template, such as Resources.
func (t Template) section(name string) map[string]any {
	section, _ := t[name].(map[string]any)
	return section
}

// deployment is one evaluation of a template.
type deployment struct {
	template Template
	stack    *Stack
	faults   []error
	at       string            // which resource or output is looked at
	names    map[string]string // of resources, as far as they were needed
	under    map[string]bool   // which conditions and names are being found out, lest two ask for each other for ever
}

func (d *deployment) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf("%s: %s", d.at, fmt.Sprintf(format, args...)))
}

// condition finds out whether one holds.
func (d *deployment) condition(name string) bool {
	if holds, known := d.stack.Conditions[name]; known {
		return holds
	}
	body, there := d.template.section("Conditions")[name]
	if !there || d.under[name] {
		d.fault("no condition %s, or it asks for itself", name)
		return false
	}
	d.under[name] = true
	holds := d.holds(d.value(body))
	delete(d.under, name)
	d.stack.Conditions[name] = holds
	return holds
}

func (d *deployment) holds(v any) bool {
	holds, ok := v.(bool)
	if !ok {
		d.fault("%v is no condition", v)
	}
	return holds
}

func (d *deployment) resources() {
	declared := d.template.section("Resources")
	for id, body := range declared {
		d.at = id
		body, _ := body.(map[string]any)
		if condition, ok := body["Condition"].(string); ok && !d.condition(condition) {
			continue
		}
		d.stack.Resources[id] = &Resource{ID: id, Type: text(body["Type"])}
	}
	for _, id := range slices.Sorted(maps.Keys(d.stack.Resources)) {
		d.at = id
		body := declared[id].(map[string]any)
		r := d.stack.Resources[id]
		r.Properties, _ = d.value(body["Properties"]).(map[string]any)
		r.Metadata, _ = body["Metadata"].(map[string]any)
		r.DeletionPolicy, r.UpdateReplacePolicy = text(body["DeletionPolicy"]), text(body["UpdateReplacePolicy"])
		r.DependsOn = d.dependsOn(body["DependsOn"])
	}
}

// dependsOn may name a resource whose condition does not hold: CloudFormation forgets it then.
func (d *deployment) dependsOn(v any) []string {
	var ids []string
	for _, one := range list(v) {
		if id := text(one); d.template.section("Resources")[id] == nil {
			d.fault("depends on %s, which there is not", id)
		} else if d.stack.Resources[id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *deployment) outputs() {
	for _, name := range slices.Sorted(maps.Keys(d.template.section("Outputs"))) {
		d.at = "output " + name
		body, _ := d.template.section("Outputs")[name].(map[string]any)
		if condition, ok := body["Condition"].(string); ok && !d.condition(condition) {
			continue
		}
		d.stack.Outputs[name] = d.value(body["Value"])
	}
}
