package template

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// parameters are those of the template, each as given or else its default, and all of them text, as CloudFormation keeps
// them. "Parameters syntax", AWS CloudFormation User Guide.
func (d *deployment) parameters(given map[string]string) map[string]string {
	declared := d.template.section("Parameters")
	all := map[string]string{}
	for name, value := range given {
		if d.at = "parameter " + name; declared[name] == nil {
			d.fault("the template has none of this name: %q", value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d.at = "parameter " + name
		body, _ := declared[name].(map[string]any)
		value, ok := given[name]
		if standard, has := body["Default"]; !ok && has {
			value, ok = fmt.Sprint(standard), true
		}
		if !ok {
			d.fault("has no value")
		}
		if err := allowed(body, value); err != nil {
			d.fault("%v", err)
		}
		all[name] = value
	}
	return all
}

// Allowed says why a template does not take a parameter's value.
func (t Template) Allowed(parameter, value string) error {
	body, _ := t.section("Parameters")[parameter].(map[string]any)
	if body == nil {
		return fmt.Errorf("no parameter %s", parameter)
	}
	return allowed(body, value)
}

func allowed(body map[string]any, value string) error {
	if words := list(body["AllowedValues"]); words != nil && !slices.ContainsFunc(words, func(w any) bool { return fmt.Sprint(w) == value }) {
		return fmt.Errorf("%q is none of %v", value, words)
	}
	if pattern, ok := body["AllowedPattern"].(string); ok {
		switch whole, err := compiled(pattern); {
		case err != nil:
			return err
		case !whole.MatchString(value):
			return fmt.Errorf("%q does not match %s", value, pattern)
		}
	}
	if body["Type"] != "Number" {
		return nil
	}
	whole, err := strconv.Atoi(value) // CloudFormation takes 2.5, too, and the service behind it then does not
	if err != nil {
		return fmt.Errorf("%q is no whole number", value)
	}
	n := float64(whole)
	least, hasLeast := number(body["MinValue"])
	most, hasMost := number(body["MaxValue"])
	if hasLeast && n < least || hasMost && n > most {
		return fmt.Errorf("%s is not between %v and %v", value, body["MinValue"], body["MaxValue"])
	}
	return nil
}

// patterns are those that were compiled, which takes longer than all the rest of a deployment.
var patterns sync.Map

// compiled is an expression that a whole value must match.
func compiled(pattern string) (*regexp.Regexp, error) {
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp), nil
	}
	whole, err := regexp.Compile("^(?:" + pattern + ")$")
	if err == nil {
		patterns.Store(pattern, whole)
	}
	return whole, err
}

// Refuses says why a template does not take some parameters: each by itself, and by its rules.
func (t Template) Refuses(parameters map[string]string) error {
	d := deployment{template: t, stack: &Stack{Conditions: map[string]bool{}}, under: map[string]bool{}}
	d.stack.Parameters = d.parameters(parameters)
	d.rules()
	return errors.Join(d.faults...)
}

// rules judges the template's assertions over its parameters.
func (d *deployment) rules() {
	for _, name := range slices.Sorted(maps.Keys(d.template.section("Rules"))) {
		d.at = "rule " + name
		body, _ := d.template.section("Rules")[name].(map[string]any)
		if condition, ok := body["RuleCondition"]; ok && !d.holds(d.value(condition)) {
			continue
		}
		for _, assertion := range list(body["Assertions"]) {
			a, _ := assertion.(map[string]any)
			if !d.holds(d.value(a["Assert"])) {
				d.fault("%v", a["AssertDescription"])
			}
		}
	}
}
