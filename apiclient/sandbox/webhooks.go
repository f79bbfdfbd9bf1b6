package sandbox

import "net/http"

// webhookRoutes is endpoint 10 (chapter 4): the list, empty because nothing can be registered here. Clients use it as a harmless GET that
// proves key and address before the first POST.
func (s *Server) webhookRoutes() []route {
	return []route{{
		pattern: prefix + "/webhooks",
		verbs:   map[string]endpoint{http.MethodGet: {handle: listWebhooks}},
	}}
}

func listWebhooks(*request) answer {
	return newAnswer(http.StatusOK, "application/json", []byte("[]"))
}
