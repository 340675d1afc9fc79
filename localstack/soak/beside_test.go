package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"inorder/cmd/inorder/soak"
)

// How often what happens beside the events.
const (
	killEvery     = 1500 * time.Millisecond
	killOthersIn  = 6               // of so many times sweeper and relay are killed, too
	sweepEvery    = 5 * time.Second // beside the template's schedule: runs may overlap
	weighEvery    = 500 * time.Millisecond
	readEvery     = 200 * time.Millisecond
	showEvery     = 10 * time.Second
	lookEvery     = time.Second
	receiveAtOnce = 2
	forgetEvery   = time.Minute
)

// goOn lets all that happens beside the events happen, until it is told to stop.
func (s *stack) goOn() (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var wait sync.WaitGroup
	again := func(every time.Duration, do func(context.Context) error) {
		wait.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && ctx.Err() == nil {
					s.giveUp(err)
					return
				}
				select {
				case <-ctx.Done():
				case <-time.After(every):
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(*seedFlag, 11))
	reader := &reader{stack: s, files: map[string]*file{}}
	progress := &soak.Progress{To: os.Stderr, Every: showEvery, Total: *eventsFlag}
	again(killEvery, func(context.Context) error { return s.killSome(random) })
	again(sweepEvery, s.sweep)
	again(weighEvery, func(context.Context) error { return s.weigh() })
	again(readEvery, func(context.Context) error { return reader.read() })
	again(lookEvery, func(context.Context) error { s.look(progress); return nil })
	again(forgetEvery, s.forget)
	for range receiveAtOnce {
		again(0, s.receive)
	}
	return sync.OnceFunc(func() {
		cancel()
		wait.Wait()
		if err := reader.read(); err != nil {
			s.t.Error(err)
		}
		reader.end()
	})
}

// killSome kills a process of the consumer, but never the one that is weighed, and now and then those of the others.
func (s *stack) killSome(random *rand.Rand) error {
	all, err := s.cloud.Processes(name + "-" + consumer)
	if err != nil {
		return err
	}
	s.mu.Lock()
	survivor := s.survivor
	s.mu.Unlock()
	if all = slices.DeleteFunc(all, func(id int) bool { return id == survivor }); len(all) > 0 && survivor != 0 {
		s.kill(consumer, all[random.IntN(len(all))])
	}
	if random.IntN(killOthersIn) > 0 {
		return nil
	}
	for _, function := range []string{sweeper, relay} {
		ids, err := s.cloud.Processes(name + "-" + function)
		if err != nil {
			return err
		}
		for _, id := range ids {
			s.kill(function, id)
		}
	}
	return nil
}

// kill ends a process as the kernel does when memory runs out.
func (s *stack) kill(function string, id int) {
	process, err := os.FindProcess(id)
	if err != nil || process.Kill() != nil { // it has just ended
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills[function]++
}

// sweep calls the sweeper as the schedule does, without waiting for it.
func (s *stack) sweep(ctx context.Context) error {
	_, err := s.lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: aws.String(name + "-" + sweeper), InvocationType: lambdatypes.InvocationTypeEvent, Payload: []byte("{}"),
	})
	return err
}

// forget empties the consumer's log group: LocalStack keeps logs in its memory, some gigabytes for a million events, and here they
// are read where they come from. A stream that is gone LocalStack makes anew.
func (s *stack) forget(ctx context.Context) error {
	group := aws.String(s.outputs["ConsumerLogGroup"])
	out, err := s.logs.DescribeLogStreams(ctx, &cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: group})
	if err != nil {
		return fmt.Errorf("list the log's streams: %w", err)
	}
	for _, one := range out.LogStreams {
		if _, err := s.logs.DeleteLogStream(ctx, &cloudwatchlogs.DeleteLogStreamInput{LogGroupName: group, LogStreamName: one.LogStreamName}); err != nil {
			return fmt.Errorf("delete a log stream: %w", err)
		}
	}
	return nil
}

// weigh takes the resident memory of the consumer's first process, which LocalStack gives the most work.
func (s *stack) weigh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.survivor == 0 {
		all, err := s.cloud.Processes(name + "-" + consumer)
		if err != nil || len(all) == 0 {
			return err
		}
		s.survivor = slices.Min(all)
	}
	bytes, err := residentBytes(s.survivor)
	if err != nil {
		return fmt.Errorf("the process of the consumer that nobody killed has ended: %w", err)
	}
	s.memory.Add(bytes)
	return nil
}

// residentBytes is the second number of statm, in pages ("proc_pid_statm(5)", Linux manual page).
func residentBytes(process int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d has no memory: %q", process, text)
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err
}

// processorTime is what a process has used so far, in user mode and for it in the kernel, in hundredths of a second
// ("proc_pid_stat(5)", Linux manual page: fields 14 and 15; field 2, the program's name in parentheses, may have blanks inside).
func processorTime(process int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	var used time.Duration
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	for _, at := range []int{14, 15} {
		n, _ := strconv.Atoi(fields[at-3])
		used += time.Duration(n) * 10 * time.Millisecond
	}
	return used
}

// look asks how much waits, and shows how far it is.
func (s *stack) look(progress *soak.Progress) {
	d := s.depth(eventsQueue)
	var cloudBytes float64
	if bytes, err := residentBytes(s.cloud.PID); err == nil {
		cloudBytes = bytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.depths = d
	functionBytes, _ := residentBytes(s.survivor)
	progress.Show(time.Now(), soak.Now{
		Sent: s.producer.Sent().Events, Applied: len(s.done),
		More: fmt.Sprintf("%v; consumer %.0f MB, LocalStack %.0f MB", d, functionBytes/1e6, cloudBytes/1e6),
	})
}
