package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	keyword "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	translated "golang.org/x/text/message"
)

// A complaint is one departure from the schema, in the words of the file.
type complaint struct {
	at   []string
	text string
}

// said takes the leaves out of the validator's tree.
func said(e *jsonschema.ValidationError) []complaint {
	switch k := e.ErrorKind.(type) {
	case *keyword.AdditionalProperties:
		var all []complaint
		for _, name := range k.Properties {
			all = append(all, complaint{append(slices.Clone(e.InstanceLocation), name), "unknown key"})
		}
		return all
	case *keyword.AnyOf, *keyword.OneOf:
		return saidByAlternatives(e)
	}
	if len(e.Causes) == 0 {
		return []complaint{{slices.Clone(e.InstanceLocation), wording(e)}}
	}
	var all []complaint
	for _, cause := range e.Causes {
		all = append(all, said(cause)...)
	}
	return all
}

// mistyped reports whether an alternative fails by its type alone: the author did not mean it.
func mistyped(e *jsonschema.ValidationError) bool {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	_, is := e.ErrorKind.(*keyword.Type)
	return is
}

// saidByAlternatives keeps the alternative that came furthest: what the author meant. That a placeholder would have
// been possible, too, helps nobody.
func saidByAlternatives(e *jsonschema.ValidationError) []complaint {
	var best []complaint
	var here []string
	onlyTypes := !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !isPlaceholder(c) && !mistyped(c) })
	for _, cause := range e.Causes {
		if isPlaceholder(cause) || mistyped(cause) && !onlyTypes {
			continue
		}
		all := said(cause)
		switch deep := depth(all); {
		case deep > len(e.InstanceLocation) && deep > depth(best):
			best = all
		case deep <= len(e.InstanceLocation):
			for _, s := range all {
				here = append(here, s.text)
			}
		}
	}
	switch {
	case best != nil:
		return best
	case len(here) == 0:
		return []complaint{{slices.Clone(e.InstanceLocation), wording(e)}}
	}
	return []complaint{{slices.Clone(e.InstanceLocation), strings.Join(slices.Compact(here), ", or ")}}
}

func depth(all []complaint) (deepest int) {
	for _, s := range all {
		deepest = max(deepest, len(s.at))
	}
	return deepest
}

func isPlaceholder(e *jsonschema.ValidationError) bool {
	if ref, ok := e.ErrorKind.(*keyword.Reference); ok {
		return strings.HasSuffix(ref.URL, "/placeholder")
	}
	return strings.HasSuffix(e.SchemaURL, "/placeholder")
}

var english = translated.NewPrinter(language.English)

// wording says in the file's words what the schema's keyword wants.
func wording(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *keyword.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	case *keyword.Enum:
		return fmt.Sprintf("%s is none of %s", shown(k.Got), list(k.Want))
	case *keyword.Const:
		return fmt.Sprintf("%s is not %s", shown(k.Got), shown(k.Want))
	case *keyword.Type:
		return fmt.Sprintf("is of the type %s, not %s", k.Got, strings.Join(k.Want, " or "))
	case *keyword.Minimum:
		return fmt.Sprintf("is less than %s", k.Want.RatString())
	case *keyword.FalseSchema:
		return "does not belong here"
	case *keyword.Pattern:
		return fmt.Sprintf("%q does not match %s", k.Got, k.Want)
	case *keyword.MaxProperties:
		return fmt.Sprintf("has %d keys where at most %d may stand", k.Got, k.Want)
	case *keyword.MinProperties, *keyword.MinItems, *keyword.MinLength:
		return "is empty"
	case *keyword.OneOf:
		if k.Subschemas != nil {
			return "may have only one of body and body_base64"
		}
	case *keyword.AnyOf:
		return "is incomplete"
	case *keyword.Not:
		return "says both that something is there and that it is absent"
	case *keyword.UniqueItems:
		return "holds something twice"
	}
	return e.ErrorKind.LocalizedString(english)
}

func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func list(all []any) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}
