//go:build unix

package postgresql_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// programVariable names the folder of a PostgreSQL, which holds bin/postgres and bin/initdb. `make test` sets it, and
	// then it must be there.
	programVariable = "INORDER_POSTGRESQL"
	installed       = "../../.tools/postgresql"

	// childVariable makes the test binary start a server, tell its folder and wait to be killed.
	childVariable = "INORDER_POSTGRESQL_TEST_CHILD"

	startTimeout = 2 * time.Minute // it takes half a second; a machine that builds on all cores takes longer
	goneTimeout  = time.Minute
	poll         = 10 * time.Millisecond
)

// watcher starts the server and waits at its own input, whose other end this process holds: the kernel closes that when
// the process ends, in whatever way. Then the server is told to stop at once, and its folder is removed.
const watcher = `
dir=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ cat; kill -QUIT $server; } <&3 >/dev/null 2>&1 &
exec 3<&-
wait $server
rm -rf "$dir"`

// server is a PostgreSQL of our own. It listens at a socket in its folder and at no port, so it can neither collide with
// another one nor be reached from elsewhere.
type server struct {
	dir   string
	watch *exec.Cmd
	input io.Closer
}

// started is the one server of all tests, from the first that asks for it.
var started = sync.OnceValues(func() (*server, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	running, err = start(program)
	return running, err
})

var running *server

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		holdAServer()
	}
	code := m.Run()
	if running != nil {
		running.stop()
	}
	os.Exit(code)
}

var errNoProgram = errors.New("no PostgreSQL in .tools/postgresql: `make tools` installs one")

func find() (string, error) {
	if named := os.Getenv(programVariable); named != "" {
		if _, err := os.Stat(filepath.Join(named, "bin", "initdb")); err != nil {
			return "", fmt.Errorf("%s names no PostgreSQL: %w", programVariable, err)
		}
		return filepath.Abs(named)
	}
	if _, err := os.Stat(filepath.Join(installed, "bin", "initdb")); err != nil {
		return "", errNoProgram
	}
	program, err := filepath.EvalSymlinks(installed)
	if err != nil {
		return "", err
	}
	return filepath.Abs(program)
}

func start(program string) (*server, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	parent := os.TempDir()
	if as != nil {
		parent = "/tmp" // root's own may be closed to others
	}
	dir, err := os.MkdirTemp(parent, "inorder-postgresql-")
	if err != nil {
		return nil, err
	}
	if as != nil { // it may not reach the program where that lies
		if program, err = handOver(program, dir, as); err != nil {
			return nil, fmt.Errorf("copy PostgreSQL for user %d: %w", as.Uid, err)
		}
	}
	s := &server{dir: dir}
	if err := s.start(program, as); err != nil {
		s.stop()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// unprivileged is whom the server runs as where this is root, whom PostgreSQL refuses; nil elsewhere.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func handOver(program, dir string, as *syscall.Credential) (string, error) {
	copied := filepath.Join(dir, "program")
	if err := os.CopyFS(copied, os.DirFS(program)); err != nil {
		return "", err
	}
	return copied, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, int(as.Uid), int(as.Gid)))
	})
}

func (s *server) start(program string, as *syscall.Credential) error {
	data := filepath.Join(s.dir, "data")
	initdb := exec.Command(filepath.Join(program, "bin", "initdb"), "--pgdata", data, "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.watch = exec.Command("/bin/sh", "-c", watcher, "sh", s.dir,
		filepath.Join(program, "bin", "postgres"), "-D", data, "-k", s.dir, "-p", "5432", "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "track_commit_timestamp=on")
	// A group of its own, for Ctrl-C in a terminal must not end the watcher before it has tidied up.
	s.watch.Dir, s.watch.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as, Setpgid: true}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.watch.Stdout, s.watch.Stderr = log, log
	if s.input, err = s.watch.StdinPipe(); err != nil {
		return err
	}
	if err := s.watch.Start(); err != nil {
		return err
	}
	return s.await()
}

func (s *server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := s.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, said)
		case <-time.After(poll):
		}
	}
}

func (s *server) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, dsn(s.dir))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// dsn says everything that the environment's PG... variables might say otherwise.
func dsn(dir string) string {
	return fmt.Sprintf("host=%s port=5432 user=postgres dbname=postgres sslmode=disable", dir)
}

// stop returns once the server is gone. Nothing in it is worth a word where that fails.
func (s *server) stop() {
	if s.input != nil {
		_ = s.input.Close()
		_ = s.watch.Wait()
	}
}

var schemas struct {
	sync.Mutex
	n int
}

// newDatabase is an empty schema with the tables of the files, for this test alone.
func newDatabase(t *testing.T, files ...string) *pgxpool.Pool {
	t.Helper()
	s, err := started()
	if errors.Is(err, errNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	schemas.Lock()
	schemas.n++
	name := fmt.Sprintf("test%d", schemas.n)
	schemas.Unlock()
	config, err := pgxpool.ParseConfig(dsn(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 20
	config.ConnConfig.RuntimeParams["search_path"] = name
	config.ConnConfig.RuntimeParams["lock_timeout"] = "60s" // a test that waits for itself fails, and does not hang
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	run(t, pool, "CREATE SCHEMA "+name)
	for _, file := range files {
		run(t, pool, file)
	}
	return pool
}

func holdAServer() {
	s, err := started()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.dir)
	select {}
}

// However the tests end, no server stays, and nothing of it.
func TestAKilledTestLeavesNoServer(t *testing.T) {
	newDatabase(t) // skips where there is none
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), childVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: strings.TrimSpace(dir)}
	if err := s.ping(t.Context()); err != nil {
		t.Fatalf("the child's server does not answer: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	for deadline := time.Now().Add(goneTimeout); ; time.Sleep(poll) {
		if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there; server answers: %v", s.dir, s.ping(t.Context()) == nil)
		}
	}
}
