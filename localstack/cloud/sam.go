package cloud

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sam runs the SAM CLI in the project's folder. What it keeps of its own, and where it looks for settings, is in folder:
// a samconfig.toml that names the user's account is not for here. The error ends with the last that it said.
func sam(ctx context.Context, root, folder string, environment []string, args ...string) error {
	program, err := tool("SAM CLI", root, SAMVariable, "sam", "bin", "sam")
	if err != nil {
		return err
	}
	settings := filepath.Join(folder, "samconfig.toml")
	if err := os.WriteFile(settings, []byte("version = 0.1\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--config-file", settings)...)
	cmd.Dir = root
	cmd.Env = append(samEnvironment(os.Environ(), folder), environment...)
	tie(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := launchAndWait(cmd); err != nil {
		return fmt.Errorf("sam %s: %w; the last that it said:\n%s", args[0], err, indent(last(said.String())))
	}
	return nil
}

// launchAndWait is for a process that is tied to the thread that starts it.
func launchAndWait(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() {
		lockThread()
		done <- cmd.Run()
	}()
	return <-done
}

// samEnvironment is the user's own without what concerns AWS.
func samEnvironment(all []string, folder string) []string {
	nowhere := filepath.Join(folder, "nowhere")
	environment := []string{
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_DEFAULT_REGION=" + Region,
		"AWS_CONFIG_FILE=" + nowhere, "AWS_SHARED_CREDENTIALS_FILE=" + nowhere, "AWS_EC2_METADATA_DISABLED=true",
		"SAM_CLI_TELEMETRY=0",
		"SAM_CLI_POLL_DELAY=1",                              // of its looks at a stack; 5 s by default
		"__SAM_CLI_APP_DIR=" + filepath.Join(folder, "sam"), // in place of ~/.aws-sam
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}
	for _, one := range all {
		name, _, _ := strings.Cut(one, "=")
		if !strings.HasPrefix(name, "AWS_") && !strings.HasPrefix(name, "SAM_CLI_") && strings.ToUpper(name) != "NO_PROXY" {
			environment = append(environment, one)
		}
	}
	return environment
}
