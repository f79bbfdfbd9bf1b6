package trade

import "strings"

// fixers say who can cure a cause; a cause that is not here is of a pattern, or unknown.
var fixers = map[string]Fixer{
	"ref:" + ProducerByDocument: FixPlatform,

	CauseParent: FixAccounting, CauseDuplicateKey: FixERP, CauseRetyped: FixAccounting, CauseTwin: FixAccounting, CauseOtherJob: FixAccounting, CauseVanished: FixAccounting, CauseExists: FixAccounting, CauseUnknown: FixAccounting,

	"message.duplicate.key": FixAccounting, "message.internal.error": FixAccounting,
	"message.malformed-request": FixIT, "message.integration.connection.refused": FixNobody,
	"message.name.mandatory": FixERP, "message.producer.social-identity.invalid": FixERP,
}

// fixerOf says who can cure a cause.
func fixerOf(state State, cause string) Fixer {
	if f, ok := fixers[cause]; ok && state != Dismissed {
		return f
	}
	switch {
	case state == Dismissed || state == Pending || state == Sending || state == Withdrawn || state == Accepted:
		return FixNobody
	case strings.HasPrefix(cause, "rule:"), state == Invalid:
		return FixERP
	case strings.HasPrefix(cause, "ref:"):
		return FixReferences
	case strings.HasSuffix(cause, ".mandatory"), strings.HasSuffix(cause, ".invalid"):
		return FixERP
	case strings.HasPrefix(cause, "message.") && knownMessage(cause):
		return FixPlatform
	case state == Held, state == InDoubt, state == Waiting:
		return FixAccounting
	}
	return FixIT
}

// knownMessage tells whether a key is in the catalogue, or of a pattern that is.
func knownMessage(key string) bool {
	_, ok := wordsIn(English).Causes[key]
	return ok || messagePattern(key) != ""
}

// messagePattern is the pattern that a message key follows (chapter 7), "" for none.
func messagePattern(key string) string {
	if !strings.HasPrefix(key, "message.") || strings.Count(key, ".") < 2 {
		return ""
	}
	for _, end := range []string{"mandatory", "invalid", "not-found", "not-linked"} {
		if strings.HasSuffix(key, "."+end) || end == "not-linked" && strings.HasSuffix(key, "-not-linked") {
			return "message.*." + end
		}
	}
	return ""
}

// messageSubject is what a key of a pattern speaks of, as people call it: "message.payday.mandatory" speaks of the payday.
func messageSubject(key string, lang Lang) string {
	parts := strings.Split(key, ".")
	name := strings.ReplaceAll(strings.Join(parts[1:len(parts)-1], "."), "-", "_")
	for _, field := range []string{name, name + "_id"} {
		if label, ok := wordsIn(lang).Fields[field]; ok {
			return label
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// againOf says whether a row may be sent again, from what is known of its record.
func againOf(state State, cause string) Again {
	switch state {
	case Accepted, Sending:
		return AgainNo
	case InDoubt:
		return AgainMayDouble
	case Held:
		if cause == CauseDuplicateKey || cause == CauseVanished {
			return AgainAutomatic
		}
		return AgainMayDouble
	case Dismissed:
		return AgainNone
	case Rejected:
		if strings.HasSuffix(cause, ".not-found") || strings.HasSuffix(cause, "not-linked") {
			return AgainAutomatic
		}
		return AgainSafe
	}
	return AgainAutomatic
}
