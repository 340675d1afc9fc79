package events

import "time"

// instantLayout has a fixed width, so that texts of instants sort as the instants do.
const instantLayout = "2006-01-02T15:04:05.000000000Z"

// FormatInstant writes an instant of the years 0000 to 9999 in UTC with nine decimals: such texts sort bytewise as the
// instants do.
func FormatInstant(t time.Time) string { return t.UTC().Format(instantLayout) }

// parseInstant reads the date-time of RFC 3339 and nothing looser: a zone is required, as are two digits for each part, a
// real calendar day, and at most nine decimals. "t" and "z" may be lower case (section 5.6). A leap second is refused: Go
// and most producers have no instant for it, and rounding it up or down would be an order made up here. The year stays
// within 0000 to 9999 in UTC too, or its text would not sort.
func parseInstant(s string) (time.Time, bool) {
	const fixed = len("2006-01-02T15:04:05")
	if len(s) <= fixed || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	nanos, rest, ok7 := parseFraction(s[fixed:])
	zone, ok8 := parseZone(rest)
	allThere := ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 && ok8
	if !allThere || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day {
		return time.Time{}, false // Date has normalised a day that does not exist
	}
	t = t.Add(-zone)
	return t, t.Year() >= 0 && t.Year() <= 9999
}

// parseFraction reads the decimals, if there are any, and returns what follows them.
func parseFraction(s string) (nanos int, rest string, ok bool) {
	if s[0] != '.' {
		return 0, s, true
	}
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 1 || n > 10 {
		return 0, "", false
	}
	nanos, _ = digits(s[1:n])
	for i := n; i < 10; i++ {
		nanos *= 10
	}
	return nanos, s[n:], true
}

func parseZone(s string) (time.Duration, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != len("+00:00") || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, ok1 := digits(s[1:3])
	minutes, ok2 := digits(s[4:6])
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}
	zone := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		zone = -zone
	}
	return zone, true
}

// digits reads a short run of plain ASCII digits, which is all it takes.
func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
