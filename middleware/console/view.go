package console

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxFilter is how long a filter may be.
	maxFilter = 100
	// shownNotices is how many notices one view has.
	shownNotices = 40
	// shownName is how many bytes of a name or key are shown.
	shownName = 200
)

// query says what somebody wants to see.
type query struct {
	filter string // lower case; part of name and key
	level  level  // only this one, where limited
	only   bool
	page   int    // from 0
	id     string // the pipeline whose details are wanted
}

// parseQuery reads a query of the page or of a script.
func parseQuery(values url.Values) (q query, err error) {
	q.filter = strings.ToLower(strings.TrimSpace(values.Get("q")))
	if len(q.filter) > maxFilter {
		return q, fmt.Errorf("q: must be at most %d bytes long", maxFilter)
	}
	if name := values.Get("level"); name != "" {
		if q.level, q.only = levelNamed(name); !q.only {
			return q, fmt.Errorf("level: must be one of %s", strings.Join(levelNames[:], ", "))
		}
	}
	if page := values.Get("page"); page != "" {
		n, err := strconv.Atoi(page)
		if err != nil || n < 1 {
			return q, fmt.Errorf("page: must be a number from 1")
		}
		q.page = n - 1
	}
	q.id = values.Get("id")
	return q, nil
}

// matches reports whether r is wanted.
func (q query) matches(r *row) bool {
	return (!q.only || r.level == q.level) && q.names(r.source, r.key)
}

func (q query) names(name, key string) bool {
	return q.filter == "" || strings.Contains(strings.ToLower(name+" "+key), q.filter)
}

// choose returns the rows of the page that q asks for, the number of that page,
// which is the last one where there are not so many, and how many rows there
// are on all pages.
func (q query) choose(rows []row, size int) (chosen []*row, page, matched int) {
	var all []*row
	for i := range rows {
		if q.matches(&rows[i]) {
			all = append(all, &rows[i])
		}
	}
	page = min(q.page, max(len(all)-1, 0)/size)
	first := page * size
	return all[first:min(first+size, len(all))], page, len(all)
}

// identity names a pipeline in queries and actions: the same in every process,
// and short however long its key is.
func identity(source, key string) string {
	sum := sha256.Sum256([]byte(source + "\x00" + key))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// clip cuts s to at most n bytes, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	const mark = "…"
	cut := n - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + mark
}
