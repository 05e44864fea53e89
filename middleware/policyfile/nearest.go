package policyfile

import (
	"slices"
	"strings"
)

// suggest returns "did you mean x?" for the known word that looks most like
// word, or else the list of those there are.
func suggest(word string, known []string) string {
	if near, ok := nearest(word, known); ok {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return ""
	}
	return "known: " + strings.Join(known, ", ")
}

// nearest returns the known word that looks most like word, if any does.
func nearest(word string, known []string) (best string, ok bool) {
	word = normal(word)
	least := 1 + max(1, min(3, len(word)/3)) // more edits than that are another word
	for _, k := range known {
		if d := distance(word, normal(k), least); d < least {
			best, least, ok = k, d, true
		}
	}
	return best, ok
}

// normal makes maxAttempts, max-attempts and max_attempts the same word.
func normal(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(word))
}

// distance is how many insertions, deletions, replacements and swaps of
// neighbors make b of a; limit stands for limit and more.
func distance(a, b string, limit int) int {
	if len(a) > len(b)+limit || len(b) > len(a)+limit {
		return limit
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		if slices.Min(next) >= limit {
			return limit
		}
		before, row = row, next
	}
	return min(row[len(b)], limit)
}
