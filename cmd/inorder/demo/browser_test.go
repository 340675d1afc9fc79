package demo

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserVariable names the browser to test the page with. `make test` sets it, and then the browser must be there.
const browserVariable = "INORDER_BROWSER"

var screenshots = flag.String("screenshots", "", "folder for pictures of the page as the browser test sees it")

// browser finds a Chromium.
func browser(t *testing.T) string {
	t.Helper()
	if named := os.Getenv(browserVariable); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			t.Fatalf("%s names %s, which cannot be run: %v\nOn Debian: apt-get install -y chromium", browserVariable, named, err)
		}
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in PATH; `make test` installs one where it can, and needs one")
	return ""
}

// open starts a browser with an empty profile that speaks to nobody, and tells what it hears from it.
func open(t *testing.T) (context.Context, *overheard) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	heard := &overheard{}
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(heard.event))
	t.Cleanup(cancel)
	return ctx, heard
}

// overheard is what a page says and asks for.
type overheard struct {
	mu       sync.Mutex
	console  []string
	requests []string
}

func (o *overheard) event(event any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		o.console = append(o.console, string(e.Type))
	case *runtime.EventExceptionThrown:
		o.console = append(o.console, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		o.console = append(o.console, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		o.requests = append(o.requests, e.Request.URL)
	}
}

// page is the address of a large day's report.
func page(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.html")
	if err := os.WriteFile(path, large(t).page, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// Each chart: how many marks it has, how many of them can be seen, and how many of its texts leave the window.
const inspect = `[...document.querySelectorAll('svg[role=img]')].map(svg => ({
  name: svg.getAttribute('aria-label'),
  marks: svg.querySelectorAll('.mark').length,
  seen: [...svg.querySelectorAll('.mark')].filter(m => m.getBoundingClientRect().height > 0).length,
  lost: [...svg.querySelectorAll('text')].filter(t => {
    const box = t.getBoundingClientRect();
    return box.left < 0 || box.right > document.documentElement.clientWidth;
  }).map(t => t.textContent),
}))`

type chart struct {
	Name  string   `json:"name"`
	Marks int      `json:"marks"`
	Seen  int      `json:"seen"`
	Lost  []string `json:"lost"`
}

// look is one way to see the page.
type look struct {
	name, scheme string
	width        int64
}

var looks = []look{{"desk-light", "light", 1100}, {"desk-dark", "dark", 1100}, {"phone-light", "light", 390}, {"phone-dark", "dark", 390}}

// The page as people see it: on a desk and on a phone, by day and by night. Nothing leaves it, nothing is wrong with
// it, every chart has marks, and nothing sticks out of a narrow window.
func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it plays what other tests play, with a fault, on a page, on another engine")
	}
	ctx, heard := open(t)
	address := page(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	backgrounds := map[string]bool{}
	for _, l := range looks {
		backgrounds[l.scheme+see(t, ctx, l)] = true
	}
	if len(backgrounds) != 2 {
		t.Errorf("light and dark look the same: %v", backgrounds)
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	if len(heard.console) > 0 {
		t.Errorf("the console says %q", heard.console)
	}
	for _, r := range heard.requests {
		if r != address && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asks for %s", r)
		}
	}
	if len(heard.requests) == 0 {
		t.Error("no request was seen at all, not even for the page")
	}
}

// see looks at the page in one way, and returns its background.
func see(t *testing.T, ctx context.Context, l look) string {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	must(t, ctx, chromedp.EmulateViewport(l.width, 900))
	if h1 := must(t, ctx, chromedp.Text("h1")); h1 != "Everything is right." {
		t.Errorf("%s: the heading is %q", l.name, h1)
	}
	wide := must(t, ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
	if wide > 0 {
		t.Errorf("%s: %d pixels too wide", l.name, wide)
	}
	charts := must(t, ctx, chromedp.Evaluate[[]chart](inspect))
	seeHealing(t, ctx, l)
	if len(charts) < 11 {
		t.Errorf("%s: only %d charts", l.name, len(charts))
	}
	for _, c := range charts {
		if c.Marks == 0 || c.Seen == 0 || len(c.Lost) > 0 {
			t.Errorf("%s: %s: %d marks, %d to be seen, texts outside: %q", l.name, c.Name, c.Marks, c.Seen, c.Lost)
		}
	}
	keep(t, l.name, must(t, ctx, chromedp.FullScreenshot(90)))
	return must(t, ctx, chromedp.Evaluate[string]("getComputedStyle(document.body).backgroundColor"))
}

// gaps tells of the strip of losses, and of the times that are shaded: how many bars there are, how many of their parts
// and heals lie outside of their plot, in which colours, and how many of the shaded times can be seen.
const gaps = `(() => {
  const plot = document.querySelector('svg.strip'), box = plot.getBoundingClientRect();
  const shapes = [...plot.querySelectorAll('.mark rect, .mark circle')];
  return {
    bars: plot.querySelectorAll('.mark').length,
    outside: shapes.filter(s => { const b = s.getBoundingClientRect(); return b.left < box.left - 5 || b.right > box.right + 5; }).length,
    colours: new Set(shapes.map(s => getComputedStyle(s).fill)).size,
    open: [...document.querySelectorAll('svg.area .open')].filter(s => s.getBoundingClientRect().width > 0).length,
  };
})()`

// seeHealing looks at the charts about what was lost.
func seeHealing(t *testing.T, ctx context.Context, l look) {
	t.Helper()
	seen := must(t, ctx, chromedp.Evaluate[struct{ Bars, Outside, Colours, Open int }](gaps))
	if seen.Bars < 10 || seen.Outside > 0 || seen.Colours != 4 || seen.Open < 10 {
		t.Errorf("%s: the lost events are drawn as %+v", l.name, seen)
	}
}

func must[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o600); err != nil {
		t.Error(err)
	}
}
