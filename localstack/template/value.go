package template

// At is what stands at a path of keys, or nil where there is nothing.
func At(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// list is a list as it is, and anything else as a list of one, as policies and CloudFormation take it.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// text is a text, or nothing.
func text(v any) string {
	s, _ := v.(string)
	return s
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
