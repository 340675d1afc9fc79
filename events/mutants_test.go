package events

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	decodedInputs = flag.Int("inputs", 20_000, "TestTheDecoderStandsAnyInput: how many inputs to decode")
	inputsSeed    = flag.Uint64("inputs-seed", 1, "TestTheDecoderStandsAnyInput: of what they are drawn from")
)

// TestTheDecoderStandsAnyInput does what FuzzDecode does without its engine, which watches what code an input reaches and
// so takes ten times as long for each: it changes messages at random, keeps those that are judged as none before, and
// changes them further. No input may break a promise of Decode; every hundredth is held against all of them.
func TestTheDecoderStandsAnyInput(t *testing.T) {
	c := fuzzConfig(t)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	found := make([]int, workers)
	for n := range workers {
		share := (*decodedInputs + n) / workers
		wait.Go(func() { found[n] = newBreeder(t, c, *inputsSeed+uint64(n)).breed(share) })
	}
	wait.Wait()
	t.Logf("proof: %d inputs decoded, one in %d held against all that is promised of it, judged in %d ways", *decodedInputs, thorough, slices.Max(found))
}

// breeder changes messages and keeps what is new.
type breeder struct {
	t       *testing.T
	config  *Config
	random  *rand.Rand
	pool    []Message
	judged  map[string]bool // in which ways
	buffer  []byte
	attempt int
}

func newBreeder(t *testing.T, c *Config, seed uint64) *breeder {
	t.Helper()
	b := &breeder{t: t, config: c, random: rand.New(rand.NewPCG(seed, 1)), judged: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		for _, m := range readSample(t, name) {
			if len(m.Body) < longestInput {
				b.pool = append(b.pool, m)
			}
		}
	}
	b.pool = append(b.pool, corpus(t)...)
	return b
}

const (
	longestInput = 3000
	largestPool  = 5000
	thorough     = 100 // of so many one is held against everything that an event must be
)

// corpus are the inputs that fuzzing has found before, in the form that `go test -fuzz` writes.
func corpus(t *testing.T) (all []Message) {
	t.Helper()
	files, err := filepath.Glob("testdata/fuzz/FuzzDecode/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		quoted, found := strings.CutPrefix(strings.Split(string(content), "\n")[1], "string(")
		body, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
		if err != nil || !found {
			t.Fatal(path, err)
		}
		all = append(all, Message{Body: body})
	}
	return all
}

// breed decodes so many inputs and returns in how many ways they were judged.
func (b *breeder) breed(inputs int) int {
	for range inputs {
		m := b.pool[b.random.IntN(len(b.pool))]
		m.Body = b.changed(m.Body)
		b.decode(m)
	}
	return len(b.judged)
}

func (b *breeder) decode(m Message) {
	defer func() {
		if p := recover(); p != nil {
			b.t.Errorf("%v on %q, %v", p, m.Body, m.Attributes)
		}
	}()
	all := b.config.Decode(m, decodeNow)
	if len(all) == 0 {
		b.t.Errorf("nothing said about %q", m.Body)
	}
	b.attempt++
	for _, d := range all {
		if d.Event == nil && (d.Refusal.Detail == "" || !slices.Contains(decodeReasons, d.Refusal.Reason)) {
			b.t.Errorf("%+v of %q", d, m.Body)
		}
		if b.attempt%thorough == 0 {
			checkDecoded(b.t, d)
		}
		b.keep(m, d, len(all))
	}
}

// keep takes a message into the pool that is judged as none before.
func (b *breeder) keep(m Message, d Decoded, events int) {
	way := string(d.Refusal.Reason) + firstWords(d.Refusal.Detail)
	if e := d.Event; e != nil {
		way = fmt.Sprint(e.Pattern, e.Kind, len(e.Content), len(e.Ranges), e.ID == "", e.Source == "", e.Generation > 0)
	}
	way += fmt.Sprint(min(events, 4), len(m.Body)/500)
	if !b.judged[way] && len(m.Body) < longestInput && len(b.pool) < largestPool {
		b.judged[way] = true
		b.pool = append(b.pool, m)
	}
}

// firstWords are what a detail begins with, which tells the kinds of refusals apart and not the inputs.
func firstWords(detail string) string {
	end := strings.IndexAny(detail, `"'0123456789`)
	if end < 0 || end > 40 {
		end = min(40, len(detail))
	}
	return detail[:end]
}

// words are what envelopes and JSON are made of.
var words = []string{
	`"`, `\`, `{`, `}`, `[`, `]`, `:`, `,`, ` `, "\n", "\ufeff", `null`, `true`, `false`, `0`, `1`, `-1`, `9223372036854775807`, `9223372036854775808`, `1e5`, `0.1`, `""`,
	`{}`, `[]`, `\u0000`, `\ud800`, `\u00e9`, "\xff", "é", `"event_id":`, `"type":`, `"entity_id":`, `"seq":`, `"generation":`, `"source":`, `"published_at":`,
	`"data":`, `"id":`, `"specversion":"1.0",`, `"sequence":"7",`, `"subject":`, `"data_base64":"e30=",`, `"Type":"Notification",`, `"Message":"{}",`,
	`"detail-type":"x",`, `"detail":{`, `"source":"aws.s3",`, `"Records":[`, `"s3":{`, `"bucket":{"name":"b"},`, `"object":{"key":"k","sequencer":"0a"},`,
	`"eventName":"x",`, `"inorder.void"`, `"inorder.mark"`, `"ranges":[[1,2],[3,3]],`, `"reason":"expired",`, `"stream":"ledger",`, `"2026-03-01T12:00:00Z"`,
	`"PlanChanged"`, `"EntryPosted"`, `"SeatsAdded"`, `"a"`, `,"a":1`, `{"a":`, `[[`,
}

// changed makes a few changes to a text: parts of it are left out, said twice or exchanged, words put in, bits turned.
func (b *breeder) changed(text string) string {
	s := append(b.buffer[:0], text...)
	for range 1 + b.random.IntN(4) {
		from, to := b.part(len(s))
		switch b.random.IntN(6) {
		case 0:
			s = slices.Delete(s, from, to)
		case 1:
			if len(s) < longestInput {
				s = slices.Insert(s, to, slices.Clone(s[from:to])...)
			}
		case 2, 3:
			s = slices.Insert(s, from, []byte(words[b.random.IntN(len(words))])...)
		case 4:
			s = slices.Replace(s, from, to, []byte(words[b.random.IntN(len(words))])...)
		case 5:
			if from < len(s) {
				s[from] ^= 1 << b.random.IntN(8)
			}
		}
	}
	b.buffer = s
	return string(s)
}

// part is a short one.
func (b *breeder) part(length int) (from, to int) {
	from = b.random.IntN(length + 1)
	return from, min(length, from+1+b.random.IntN(24))
}
