package template

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"inorder/functions"
	"inorder/functions/projections"
)

// settings is how each function reads its variables, by its folder.
var settings = map[string]func(getenv func(string) string, projections []string) error{
	"consumer": func(getenv func(string) string, p []string) error {
		_, err := functions.ReadSettings(getenv, p)
		return err
	},
	"sweeper": func(getenv func(string) string, p []string) error {
		_, err := functions.ReadSweeperSettings(getenv, p)
		return err
	},
	"relay": func(getenv func(string) string, p []string) error {
		_, err := functions.ReadRelaySettings(getenv, p)
		return err
	},
}

// Each function has the variables that it reads, and no others, but STREAMS_FILE, for its file lies beside it. A variable
// has the value of the output or the parameter that is called like it.
func checkVariables(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		for folder, variables := range s.variables() {
			want := asked(settings[folder], variables)
			want = slices.DeleteFunc(want, func(v string) bool { return v == "STREAMS_FILE" })
			f.want(fmt.Sprintf("%s: what the %s has, beside what it reads,", name, folder), slices.Sorted(maps.Keys(variables)), want)
			for variable, value := range variables {
				if is, ok := s.called(camel(variable)); !ok || is != value {
					f.add("%s: %s of the %s is %s; the output or parameter %s is %q", name, variable, folder, value, camel(variable), is)
				}
			}
		}
	})
	return f
}

// Every function starts with what the template gives it.
func checkValues(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		for folder, variables := range s.variables() {
			if settings[folder] == nil {
				f.add("nobody knows how %s reads its variables", folder)
			} else if err := start(folder, variables); err != nil {
				f.add("%s: the %s does not start: %v", name, folder, err)
			}
		}
	})
	return f
}

// start reads a function's variables as it does when it starts, with its streams.yaml beside it.
func start(folder string, variables map[string]string) error {
	beside := filepath.Join(root, "events")
	return settings[folder](func(name string) string {
		if name == "LAMBDA_TASK_ROOT" {
			return beside
		}
		return variables[name]
	}, slices.Sorted(maps.Keys(projections.All())))
}

// asked are the variables that a reader asks for, empty or not, but Lambda's own.
func asked(read func(func(string) string, []string) error, values map[string]string) []string {
	names := map[string]bool{}
	for _, values := range []map[string]string{nil, values} {
		if read != nil {
			_ = read(func(name string) string {
				names[name] = !strings.HasPrefix(name, "LAMBDA_")
				return values[name]
			}, nil)
		}
	}
	maps.DeleteFunc(names, func(_ string, ours bool) bool { return !ours })
	return slices.Sorted(maps.Keys(names))
}

// variables are the functions' environments, by their folders.
func (s *Stack) variables() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, r := range append(s.Types("AWS::Serverless::Function"), s.Types("AWS::Lambda::Function")...) {
		variables, _ := At(r.Properties, "Environment", "Variables").(map[string]any)
		folder := strings.TrimPrefix(text(r.Properties["FunctionName"]), s.Parameters["Name"]+"-")
		all[folder] = map[string]string{}
		for name, value := range variables {
			all[folder][name] = fmt.Sprint(value)
		}
	}
	return all
}

// called is the value of the output, or else the parameter, of a name.
func (s *Stack) called(name string) (string, bool) {
	if value, ok := s.Outputs[name]; ok {
		return fmt.Sprint(value), true
	}
	value, ok := s.Parameters[name]
	return value, ok
}

// camel writes a variable's name as outputs and parameters are written.
func camel(variable string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(variable, "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}
