package template

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// views are a template as the checks look at it.
type views struct {
	t      *testing.T
	source Template
	bySAM  Template // transformed, once it is asked for
}

func viewsOf(t *testing.T, tpl Template) *views { return &views{t: t, source: tpl} }

// transformed is what SAM makes of it. A test that asks for it is skipped where there is no SAM.
func (v *views) transformed() Template {
	v.t.Helper()
	if v.bySAM == nil {
		v.bySAM = transform(v.t, v.source, nil)
	}
	return v.bySAM
}

func transform(t *testing.T, tpl Template, parameters map[string]string) Template {
	t.Helper()
	transformed, err := needSAM(t).Transform(tpl, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return transformed
}

// A check returns what is wrong, in words. What it asks of the template is in its comment.
type check func(v *views) (wrong []string)

// checks are all of them, but those of alarms and dashboard, which are in alarms_test.go.
var checks = map[string]check{
	"functions":   checkFunctions,
	"logs":        checkLogs,
	"variables":   checkVariables,
	"values":      checkValues,
	"durations":   checkDurations,
	"defaults":    checkDefaults,
	"words":       checkWords,
	"tables":      checkTables,
	"keeping":     checkKeeping,
	"outputs":     checkOutputs,
	"queues":      checkQueues,
	"senders":     checkSenders,
	"visibility":  checkVisibility,
	"tries":       checkTries,
	"redrive":     checkRedrive,
	"mappings":    checkMappings,
	"sources":     checkSources,
	"schedule":    checkSchedule,
	"roles":       checkRoles,
	"permissions": checkPermissions,
	"people":      checkPeople,
	"references":  checkReferences,
	"cycles":      checkCycles,
	"ingress":     checkIngress,
	"publication": checkPublication,
	"changes":     checkChanges,
}

// TestTemplate compares template.yaml with the code, and with what this project promises of it.
func TestTemplate(t *testing.T) {
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			for _, fault := range grouped(check(viewsOf(t, source(t)))) {
				t.Error(fault)
			}
		})
	}
}

// What SAM writes depends on no parameter. So one transformed template does for all checks.
func TestTransformDependsOnNoParameter(t *testing.T) {
	once := timeless(transform(t, source(t), nil))
	for name, parameters := range deployments {
		if !reflect.DeepEqual(timeless(transform(t, source(t), parameters)), once) {
			t.Errorf("%s: SAM makes something else of it with these parameters", name)
		}
	}
}

// timeless leaves out the webhooks' deployment, whose name SAM makes of the time, and the stage, which names it.
func timeless(tpl Template) Template {
	maps.DeleteFunc(tpl.section("Resources"), func(_ string, r any) bool {
		return strings.HasPrefix(text(At(r, "Type")), "AWS::ApiGateway::") && text(At(r, "Type")) != "AWS::ApiGateway::RestApi"
	})
	return tpl
}

// grouped tells a fault of several deployments once.
func grouped(wrong []string) (told []string) {
	in := map[string][]string{}
	for _, fault := range wrong {
		name, rest, _ := strings.Cut(fault, ": ")
		if deployments[name] == nil {
			name, rest = "", fault
		}
		in[rest] = append(in[rest], name)
	}
	for _, fault := range slices.Sorted(maps.Keys(in)) {
		names := slices.Sorted(slices.Values(in[fault]))
		switch {
		case names[0] == "":
			told = append(told, fault)
		case len(names) == len(deployments):
			told = append(told, "in every deployment: "+fault)
		default:
			told = append(told, strings.Join(names, "; ")+": "+fault)
		}
	}
	return told
}

// faults collects what is wrong.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// want notes what is not as it should be.
func (f *faults) want(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.add("%s is %v, want %v", what, got, want)
	}
}
