package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Module is a part of the API that a cooperative contracts (chapter 5, rule 4).
type Module string

// The modules, named as the areas of chapter 1. Which routes belong to which is not stated there; endpoints 1 to 4 are taken for the first, 5 to
// 8 for the second, 9 to 13 for the third.
const (
	Commercial Module = "commercial"
	Financial  Module = "financial"
	Webhooks   Module = "webhooks"
)

// ParseModules reads names of modules.
func ParseModules(names []string) ([]Module, error) {
	all := []Module{Commercial, Financial, Webhooks}
	modules := make([]Module, 0, len(names))
	for _, name := range names {
		if !slices.Contains(all, Module(name)) {
			return nil, fmt.Errorf("%q is no module; known are %s, %s, %s", name, Commercial, Financial, Webhooks)
		}
		modules = append(modules, Module(name))
	}
	slices.Sort(modules)
	return slices.Compact(modules), nil
}

// SetNotContracted replaces the modules whose routes answer 403 message.module.not-contracted from now on; without arguments all are
// contracted.
func (s *Server) SetNotContracted(modules ...Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = slices.Clone(modules)
}

// NotContracted is what SetNotContracted or [Options.NotContracted] set.
func (s *Server) NotContracted() []Module {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}

func (s *Server) contracted(m Module) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.Contains(s.missing, m)
}

func moduleNames(modules []Module) string {
	names := make([]string, len(modules))
	for i, m := range modules {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}
