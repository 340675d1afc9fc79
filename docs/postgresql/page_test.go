package postgresql_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// What the page shows is what is tested: every file once, whole, under its name, and no SQL besides.
func TestThePageShowsTheFiles(t *testing.T) {
	page, err := os.ReadFile("../postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown int
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".sql" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		block := "[`" + name + "`](postgresql/" + name + ")\n\n```sql\n" + string(text) + "```\n"
		if n := strings.Count(string(page), block); n != 1 {
			t.Errorf("%s stands in the page %d times as it is", name, n)
		}
		shown++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if blocks := strings.Count(string(page), "```sql"); blocks != shown || shown == 0 {
		t.Errorf("%d blocks of SQL for %d files", blocks, shown)
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(path.Join("..", link[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}
