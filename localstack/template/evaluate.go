package template

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// noValue stands for AWS::NoValue: what has it is left out.
type noValue struct{}

// value evaluates whatever stands in a template. "Intrinsic function reference", AWS CloudFormation Template Reference Guide.
func (d *deployment) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, argument, ok := function(v); ok {
			return d.call(name, argument)
		}
		m := make(map[string]any, len(v))
		for key, inner := range v {
			if is := d.value(inner); is != (noValue{}) {
				m[key] = is
			}
		}
		return m
	case []any:
		l := []any{}
		for _, inner := range v {
			if is := d.value(inner); is != (noValue{}) {
				l = append(l, is)
			}
		}
		return l
	}
	return v
}

// function tells a function from a map that happens to be one entry long. A policy's statement has a Condition, too, but
// beside others.
func function(m map[string]any) (name string, argument any, ok bool) {
	if len(m) != 1 {
		return "", nil, false
	}
	for name, argument = range m {
		_, isText := argument.(string)
		ok = strings.HasPrefix(name, "Fn::") || isText && (name == "Ref" || name == "Condition")
	}
	return name, argument, ok
}

func (d *deployment) call(name string, argument any) any {
	switch name {
	case "Ref":
		return d.ref(text(argument))
	case "Condition":
		return d.condition(text(argument))
	case "Fn::If":
		return d.choose(list(argument))
	case "Fn::Sub":
		return d.sub(argument)
	}
	a, isList := d.value(argument).([]any)
	if !isList {
		d.fault("%s takes a list: %v", name, argument)
		return nil
	}
	return d.apply(strings.TrimPrefix(name, "Fn::"), a)
}

// apply calls a function that takes a list of values.
func (d *deployment) apply(name string, a []any) any {
	switch {
	case name == "GetAtt" && len(a) == 2:
		return d.attribute(text(a[0]), text(a[1]))
	case name == "Equals" && len(a) == 2:
		return fmt.Sprint(a[0]) == fmt.Sprint(a[1])
	case name == "Not" && len(a) == 1:
		return !d.holds(a[0])
	case name == "And" || name == "Or":
		return d.together(name == "And", a)
	case name == "Select" && len(a) == 2:
		return d.pick(a)
	case name == "Split" && len(a) == 2:
		return split(text(a[1]), text(a[0]))
	case name == "Join" && len(a) == 2:
		return join(list(a[1]), text(a[0]))
	}
	d.fault("Fn::%s with %d arguments is not known here", name, len(a))
	return nil
}

func (d *deployment) choose(a []any) any {
	if len(a) != 3 {
		d.fault("Fn::If takes three: %v", a)
		return nil
	}
	if d.condition(text(a[0])) {
		return d.value(a[1])
	}
	return d.value(a[2])
}

// together joins conditions: all of them, or one at least.
func (d *deployment) together(all bool, conditions []any) bool {
	for _, c := range conditions {
		if d.holds(c) != all {
			return !all
		}
	}
	return all
}

func (d *deployment) pick(a []any) any {
	from := list(a[1])
	i, err := strconv.Atoi(fmt.Sprint(a[0]))
	if err != nil || i < 0 || i >= len(from) {
		d.fault("Fn::Select: no %v of %v", a[0], from)
		return nil
	}
	return from[i]
}

var placeholder = regexp.MustCompile(`\$\{([^}]+)}`)

// sub replaces what stands in ${}, by the names that it brings along or by what the template has.
func (d *deployment) sub(argument any) any {
	own := map[string]any{}
	if two := list(argument); len(two) == 2 {
		own, _ = d.value(two[1]).(map[string]any)
		argument = two[0]
	}
	return placeholder.ReplaceAllStringFunc(text(argument), func(match string) string {
		name := match[2 : len(match)-1]
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		if v, ok := own[name]; ok {
			return fmt.Sprint(v)
		}
		if resource, attribute, ok := strings.Cut(name, "."); ok {
			return fmt.Sprint(d.attribute(resource, attribute))
		}
		return fmt.Sprint(d.ref(name))
	})
}

func split(text, by string) []any {
	var parts []any
	for part := range strings.SplitSeq(text, by) {
		parts = append(parts, part)
	}
	return parts
}

func join(parts []any, by string) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, by)
}
