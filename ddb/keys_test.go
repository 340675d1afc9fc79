package ddb

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"inorder/ordering"
)

func TestEntityPK(t *testing.T) {
	for _, c := range []struct {
		key  ordering.Key
		want string
	}{
		{ordering.Key{Consumer: "billing-view", Stream: "ledger", ID: "a1"}, "billing-view/ledger/a1"},
		{ordering.Key{Consumer: "c", Stream: "s", ID: "50% off/EU"}, "c/s/50%25 off%2FEU"},
		{ordering.Key{Consumer: "c", Stream: "s", ID: "a", PerSource: true, Source: "eu/1"}, "c/s/a/eu%2F1"},
		{ordering.Key{Consumer: "c", Stream: "s", ID: "a", PerSource: true}, "c/s/a/"},
		{ordering.Key{Consumer: "c", Stream: "s", ID: "ключ 🗝"}, "c/s/ключ 🗝"},
	} {
		if got := EntityPK(c.key); got != c.want {
			t.Errorf("%+v is %q, want %q", c.key, got, c.want)
		}
	}
}

// A key that is one byte too long is the event's fault, and told before any request.
func TestCheckKey(t *testing.T) {
	key := ordering.Key{Consumer: "c", Stream: "s", ID: strings.Repeat("x", maxKeyBytes-len("c/s/"))}
	if err := CheckKey(key); err != nil {
		t.Errorf("2048 bytes: %v", err)
	}
	key.ID += "x"
	if err := CheckKey(key); !errors.Is(err, ErrBadKey) {
		t.Errorf("2049 bytes: %v, want ErrBadKey", err)
	}
	key.ID = strings.Repeat("/", 700) // escaped, it is three times as long
	if err := CheckKey(key); !errors.Is(err, ErrBadKey) {
		t.Errorf("700 slashes: %v, want ErrBadKey", err)
	}
}

func TestParseEntityPKRefusesWhatIsNone(t *testing.T) {
	for _, pk := range []string{"", "a", "a/b", "a/b/c/d/e", "a/b/%", "a/b/%2f", "a/b/%41", "c/%/source/id"} {
		if key, err := ParseEntityPK(pk); err == nil {
			t.Errorf("%q is read as %+v", pk, key)
		}
	}
}

func TestRowsSortAsTheirNumbers(t *testing.T) {
	ascending := []string{
		rowSK(0, 1), rowSK(0, 9), rowSK(0, 10), rowSK(0, 1<<63-1), rowSK(1, 1), rowSK(9_999_999_999, 1<<63-1),
	}
	for i := 1; i < len(ascending); i++ {
		if ascending[i-1] >= ascending[i] {
			t.Errorf("%q does not sort before %q", ascending[i-1], ascending[i])
		}
	}
	if want := "step/0000000007/0000000000000000042"; rowSK(7, 42) != want {
		t.Errorf("got %q, want %q", rowSK(7, 42), want)
	}
}

// FuzzKeys: an entity's key tells the entity, no two entities or markers share one, and none is longer than allowed.
func FuzzKeys(f *testing.F) {
	f.Add("c", "s", "a/b", "", false, "c", "s", "a", "b", true)
	f.Add("c", "s", "a", "", true, "c", "s", "a", "", false)
	f.Add("c", "%", "source", "id", true, "c", "", "source", "id", true)
	f.Add("c", "s", "%2F", "%25", true, "c", "s", "/", "%", true)
	f.Add("c", "%sha256", strings.Repeat("x", 3000), "", false, "c", "", strings.Repeat("x", 3000), "/", true)
	f.Fuzz(func(t *testing.T, c1, s1, i1, o1 string, p1 bool, c2, s2, i2, o2 string, p2 bool) {
		for _, s := range []string{c1, s1, i1, o1, c2, s2, i2, o2} {
			if !utf8.ValidString(s) {
				t.Skip("such an id cannot come")
			}
		}
		one := ordering.Key{Consumer: c1, Stream: s1, ID: i1, PerSource: p1, Source: o1}
		two := ordering.Key{Consumer: c2, Stream: s2, ID: i2, PerSource: p2, Source: o2}
		one.PerSource, two.PerSource = p1 || o1 != "", p2 || o2 != "" // only such keys are made
		for _, key := range []ordering.Key{one, two} {
			if back, err := ParseEntityPK(EntityPK(key)); err != nil || back != key {
				t.Fatalf("%+v is read back as %+v, %v", key, back, err)
			}
		}
		first := ordering.Marker{Consumer: c1, Source: i1, EventID: o1}
		second := ordering.Marker{Consumer: c2, Source: i2, EventID: o2}
		firstPK, _ := markerPK(first)
		secondPK, _ := markerPK(second)
		if (EntityPK(one) == EntityPK(two)) != (one == two) {
			t.Fatalf("%+v and %+v share a key, or one has two", one, two)
		}
		if (firstPK == secondPK) != (first == second) {
			t.Fatalf("%+v and %+v share a key, or one has two", first, second)
		}
		if EntityPK(one) == firstPK || EntityPK(one) == secondPK {
			t.Fatalf("%+v has a marker's key", one)
		}
		checkOutboxKeys(t, outboxKeyOf(s1, i1, o1, p1), outboxKeyOf(s2, i2, o2, p2))
		if len(EntityPK(ordering.Key{Consumer: c1})) < maxKeyBytes-100 && len(firstPK) > maxKeyBytes {
			t.Fatalf("the key of %+v has %d bytes", first, len(firstPK))
		}
	})
}

func outboxKeyOf(stream, id, source string, perSource bool) OutboxKey {
	if !perSource {
		source = "" // nobody's history
	}
	return OutboxKey{Stream: stream, EntityID: id, Source: source, PerSource: perSource}
}

func checkOutboxKeys(t *testing.T, one, two OutboxKey) {
	t.Helper()
	if (OutboxPK(one) == OutboxPK(two)) != (one == two) {
		t.Fatalf("%+v and %+v share a key, or one has two", one, two)
	}
	if one.Check() != nil {
		return
	}
	if back, err := ParseOutboxPK(OutboxPK(one)); err != nil || back != one {
		t.Fatalf("%+v is read back as %+v, %v", one, back, err)
	}
}
