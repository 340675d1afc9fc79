package events

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Object is a JSON object: its members, each name once, in an order that means nothing. Nobody changes it.
type Object []Member

// fewMembers is how many are looked at one by one, and may stand as they came. More are in the order of their names, or an
// object of a megabyte would take its time by the square.
const fewMembers = 32

// Member is a name of an object with its value, or an element of an array, which has no name.
type Member struct {
	Name  string
	Value Value
}

// Value is a JSON value, nothing where its zero. Most of what an event says is only looked at, so it becomes one of Go's
// values only where somebody asks for that. Texts are parts of what was read and keep it from being freed.
type Value struct {
	form  form
	text  string   // of a string, or the digits of a number
	inner []Member // of an object, or of an array
}

// form is what a value is, by the first byte of its text or what stands for several of them.
type form byte

const (
	formNone   form = 0 // there is no value
	formNull   form = 'n'
	formTrue   form = 't'
	formFalse  form = 'f'
	formText   form = '"'
	formNumber form = '0'
	formArray  form = '['
	formObject form = '{'
)

// ObjectOf makes an object of what Map returns.
func ObjectOf(members map[string]any) Object {
	o := make(Object, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o = append(o, Member{name, valueOf(members[name])})
	}
	return o
}

func valueOf(value any) Value {
	switch v := value.(type) {
	case nil:
		return Value{form: formNull}
	case bool:
		if v {
			return Value{form: formTrue}
		}
		return Value{form: formFalse}
	case string:
		return textValue(v)
	case Number:
		return Value{form: formNumber, text: string(v)}
	case []any:
		elements := make([]Member, len(v))
		for i := range v {
			elements[i].Value = valueOf(v[i])
		}
		return Value{form: formArray, inner: elements}
	case map[string]any:
		return Value{form: formObject, inner: ObjectOf(v)}
	}
	panic(fmt.Sprintf("a %T is no value of JSON", value))
}

func textValue(s string) Value { return Value{form: formText, text: s} }

// Find returns the value of a name, the zero Value where there is no such name.
func (o Object) Find(name string) Value {
	if len(o) > fewMembers {
		return o.search(name)
	}
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return Value{}
}

func (o Object) search(name string) Value {
	i, found := slices.BinarySearchFunc(o, name, func(m Member, name string) int { return strings.Compare(m.Name, name) })
	if !found {
		return Value{}
	}
	return o[i].Value
}

// arrange puts many members into order.
func (o Object) arrange() {
	if len(o) > fewMembers {
		slices.SortFunc(o, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	}
}

// Get is Find for what Go has for the value, nil where there is no such name.
func (o Object) Get(name string) any { return o.Find(name).Any() }

// Map returns the object as nil, bool, string, Number, []any and map[string]any.
func (o Object) Map() map[string]any {
	members := make(map[string]any, len(o))
	for i := range o {
		members[o[i].Name] = o[i].Value.Any()
	}
	return members
}

// with returns the object with some members added or replaced; one that is nothing leaves it.
func (o Object) with(changed map[string]Value) Object {
	members := make(map[string]Value, len(o)+len(changed))
	for _, m := range o {
		members[m.Name] = m.Value
	}
	maps.Copy(members, changed)
	return objectOf(members)
}

// objectOf makes an object of all that is not nothing.
func objectOf(members map[string]Value) Object {
	maps.DeleteFunc(members, func(_ string, v Value) bool { return v.form == formNone })
	o := make(Object, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o = append(o, Member{name, members[name]})
	}
	return o
}

// Any returns the value as nil, bool, string, Number, []any or map[string]any.
func (v Value) Any() any {
	switch v.form {
	case formTrue, formFalse:
		return v.form == formTrue
	case formText:
		return v.text
	case formNumber:
		return Number(v.text)
	case formArray:
		elements := make([]any, len(v.inner))
		for i := range v.inner {
			elements[i] = v.inner[i].Value.Any()
		}
		return elements
	case formObject:
		return Object(v.inner).Map()
	case formNone, formNull:
	}
	return nil
}

// Exists reports whether there is a value, be it null.
func (v Value) Exists() bool { return v.form != formNone }

// IsNull reports whether there is no value, or null.
func (v Value) IsNull() bool { return v.form == formNone || v.form == formNull }

// Text returns a string.
func (v Value) Text() (s string, ok bool) {
	if v.form != formText {
		return "", false
	}
	return v.text, true
}

// Number returns a number.
func (v Value) Number() (n Number, ok bool) {
	if v.form != formNumber {
		return "", false
	}
	return Number(v.text), true
}

// Inside returns what an array or an object holds.
func (v Value) Inside() []Member { return v.inner }

// object returns an object, nil where the value is none.
func (v Value) object() Object {
	if v.form != formObject {
		return nil
	}
	return v.inner
}

// elements returns those of an array, nil where the value is none.
func (v Value) elements() []Member {
	if v.form != formArray {
		return nil
	}
	return v.inner
}

// orNull is the value, null where there is none.
func (v Value) orNull() Value {
	if v.Exists() {
		return v
	}
	return Value{form: formNull}
}

// is reports whether the value is this string.
func (v Value) is(s string) bool { return v.form == formText && v.text == s }
