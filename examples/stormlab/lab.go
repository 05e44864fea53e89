package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lab is all studies.
type lab struct {
	jitter   jitterStudy
	layers   layersStudy
	hedging  []tail
	recovery recoveryStudy
}

// study runs all simulations; the same seed gives the same numbers.
func study(seed uint64) (*lab, error) {
	l := new(lab)
	var err error
	if l.jitter, err = studyJitter(seed); err != nil {
		return nil, err
	}
	if l.layers, err = studyLayers(seed); err != nil {
		return nil, err
	}
	if l.hedging, err = studyHedging(seed); err != nil {
		return nil, err
	}
	l.recovery, err = studyRecovery(seed)
	return l, err
}

// save writes the figures into a folder.
func (l *lab) save(folder string) error {
	for name, svg := range l.draw() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(svg), 0o644); err != nil { //nolint:gosec // to be read by everybody
			return err
		}
	}
	return nil
}

// document returns page with the tables of this run in place of its own.
func (l *lab) document(page string) (string, error) {
	for name, text := range l.tables() {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("the page has no table %q", name)
		}
		page = before + begin + "\n" + text + "\n" + end + after
	}
	return page, nil
}
