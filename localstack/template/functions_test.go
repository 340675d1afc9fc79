package template

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Every function of the template has a folder with a main, and a target of the Makefile that builds it as SAM wants it,
// and the reverse. It is built for the machine that it runs on.
func checkFunctions(v *views) (wrong []string) {
	var f faults
	template := v.source.functions()
	f.want("the functions of the template, beside the folders of functions/", slices.Sorted(maps.Keys(template)), folders())
	f.want("the functions of the template, beside the Makefile's targets", ids(template), targets())
	for folder, id := range template {
		f.built(folder, id)
	}
	architecture := At(map[string]any(v.source), "Parameters", "Architecture")
	f.want("the default of Architecture", At(architecture, "Default"), "arm64")
	f.want("what Architecture may be", At(architecture, "AllowedValues"), []string{"arm64", "x86_64"})
	each(v.transformed(), func(name string, s *Stack) {
		for _, r := range s.Types("AWS::Lambda::Function") {
			f.runs(name, s, r)
		}
	})
	return f
}

// built asks make what it does for a function.
func (f *faults) built(folder, id string) {
	for architecture, goarch := range map[string]string{"arm64": "arm64", "x86_64": "amd64", "": "arm64"} {
		said := dryMake("build-"+id, architecture)
		for _, part := range []string{"./functions/" + folder + "\n", "GOARCH=" + goarch + " ", "-o /artifacts/bootstrap", "events/streams.yaml /artifacts/streams.yaml"} {
			if !strings.Contains(said, part) {
				f.add("make build-%s for %q does without %q:\n%s", id, architecture, part, said)
			}
		}
	}
}

// runs looks at how a function runs.
func (f *faults) runs(name string, s *Stack, r *Resource) {
	is := func(property string, want any) {
		f.want(name+": "+r.ID+"."+property, At(r.Properties, strings.Split(property, ".")...), want)
	}
	is("Runtime", "provided.al2023")
	is("Handler", "bootstrap")
	is("PackageType", nil)
	is("Architectures", []any{s.Parameters["Architecture"]})
	is("MemorySize", s.Parameters["MemorySize"])
	is("TracingConfig.Mode", "Active")
	is("ReservedConcurrentExecutions", nil)
	if key := s.Parameters["KmsKeyArn"]; key != "" {
		is("KmsKeyArn", key)
	}
	f.want(name+": "+r.ID+" is built", r.Metadata["BuildMethod"], "makefile")
}

// Each function writes to a log group of its own, which forgets; Lambda's own filter lets everything through, for metric
// lines carry no level.
func checkLogs(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		groups := map[string]*Resource{}
		for _, r := range s.Types("AWS::Logs::LogGroup") {
			groups[text(r.Properties["LogGroupName"])] = r
			f.want(name+": "+r.ID+" forgets after", r.Properties["RetentionInDays"], s.Parameters["LogRetentionDays"])
			if key := s.Parameters["KmsKeyArn"]; key != "" {
				f.want(name+": the key of "+r.ID, r.Properties["KmsKeyId"], key)
			}
		}
		for _, r := range s.Types("AWS::Lambda::Function") {
			logging := r.Properties["LoggingConfig"]
			f.want(name+": the log group of "+r.ID, At(logging, "LogGroup"), "/aws/lambda/"+text(r.Properties["FunctionName"]))
			if groups[text(At(logging, "LogGroup"))] == nil {
				f.add("%s: %s writes to the log group %v, which is not in the stack", name, r.ID, At(logging, "LogGroup"))
			}
			f.want(name+": the log lines of "+r.ID, At(logging, "LogFormat"), "JSON")
			f.want(name+": Lambda's filter of "+r.ID, At(logging, "ApplicationLogLevel"), "TRACE")
		}
		f.want(name+": log groups, beside functions", len(groups), len(s.Types("AWS::Lambda::Function")))
	})
	return f
}

// functions are the ids of the template's functions, by the folder that each is named after.
func (t Template) functions() map[string]string {
	all := map[string]string{}
	s, _ := t.Deploy(map[string]string{"Name": "inorder"})
	for _, r := range s.Types("AWS::Serverless::Function") {
		all[strings.TrimPrefix(fmt.Sprint(r.Properties["FunctionName"]), "inorder-")] = r.ID
	}
	return all
}

func ids(functions map[string]string) []string { return slices.Sorted(maps.Values(functions)) }

// folders are those of functions/ that hold a program.
func folders() (names []string) {
	mains, _ := filepath.Glob(root + "/functions/*/main.go")
	for _, main := range mains {
		names = append(names, filepath.Base(filepath.Dir(main)))
	}
	return names
}

var target = regexp.MustCompile(`(?m)^build-(\w+): FOLDER`)

// targets are the functions that the Makefile can build.
func targets() (names []string) {
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		return []string{err.Error()}
	}
	for _, found := range target.FindAllStringSubmatch(string(makefile), -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return names
}

var (
	said   = map[[2]string]string{}
	saying sync.Mutex
)

// dryMake is what make would do for a target.
func dryMake(target, architecture string) string {
	saying.Lock()
	defer saying.Unlock()
	asked := [2]string{target, architecture}
	if said[asked] == "" {
		args := []string{"-n", "-C", root, target, "ARTIFACTS_DIR=/artifacts"}
		if architecture != "" {
			args = append(args, "ARCHITECTURE="+architecture)
		}
		make := exec.Command("make", args...)
		make.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // nothing of a make that runs this
		out, err := make.CombinedOutput()
		said[asked] = fmt.Sprint(string(out), err)
	}
	return said[asked]
}
