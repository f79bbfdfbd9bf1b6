package apidoc

import (
	"fmt"
	"slices"
	"strings"
)

// View is one of the three ways of proving a row.
type View string

// The views.
const (
	// Together is the client against the sandbox, over real HTTP.
	Together View = "together"
	// Client is the client alone, against answers written by hand.
	Client View = "client"
	// Sandbox is the sandbox alone, called with plain HTTP.
	Sandbox View = "sandbox"
)

// Views lists the views.
var Views = []View{Together, Client, Sandbox}

// Row is one row of the document.
type Row struct {
	// ID is stable: the chapter, then the name of the row, such as "2.1 amount". It is also the
	// name of the subtests, so it must not contain a slash.
	ID string
	// What is a short summary of what the row states.
	What string
	// without holds the reason for each view in which the row cannot be proved.
	without map[View]string
}

// Without returns the reason why the view proves nothing about the row, or "" if it must prove it.
func (r Row) Without(v View) string { return r.without[v] }

// Section is a group of rows, such as one table of the document.
type Section struct {
	Title string
	Rows  []Row
}

// Sections returns all rows in the order of the document. Chapter 3 states nothing that could be
// proved.
func Sections() []Section {
	return slices.Concat([]Section{
		{"Chapter 1: what must exist before", dependencies},
	}, fieldSections, []Section{
		{"Chapter 4: endpoints", endpoints},
		{"Chapter 4: rules", rules},
		{"Chapter 5: authentication", authentication},
		{"Chapter 6: events", events()},
		{"Chapter 6: the receiver", receiver},
		{"Chapter 7: formats of errors", formats},
		{"Chapter 7: statuses", statuses},
		{"Chapter 7: message keys", keys},
		{"Chapter 8: limits", limits},
		{"Chapter 9: versions", versions},
	})
}

// Find returns the row with this id.
func Find(id string) (Row, bool) {
	for _, s := range Sections() {
		for _, r := range s.Rows {
			if r.ID == id {
				return r, true
			}
		}
	}
	return Row{}, false
}

func row(id, what string) Row { return Row{ID: id, What: what} }

// not returns the row with a reason why a view proves nothing about it.
func (r Row) not(v View, reason string) Row {
	without := map[View]string{v: reason}
	for view, text := range r.without {
		without[view] = text
	}
	r.without = without
	return r
}

// notShown returns the row with that reason for every view: the document states only that it does
// not state it.
func (r Row) notShown() Row {
	for _, v := range Views {
		r = r.not(v, "not shown by the document")
	}
	return r
}

// rowsOf returns the rows of one table: each line is a name, a colon, and what the row states.
func rowsOf(prefix, lines string) []Row {
	var rows []Row
	for line := range strings.Lines(lines) {
		name, what, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			if strings.TrimSpace(line) == "" {
				continue
			}
			panic(fmt.Sprintf("apidoc: %q is not NAME: WORDS", line))
		}
		rows = append(rows, row(prefix+" "+name, what))
	}
	return rows
}
