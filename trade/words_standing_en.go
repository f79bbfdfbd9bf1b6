package trade

// englishStanding is the same in English.
var englishStanding = map[State]Advice{
	Waiting:  {What: "waits for a contract, a de-para or a record of the platform", Who: "depends on what is missing", Where: "see what the row waits for", Do: "Solve what is missing; the row goes by itself."},
	Invalid:  {What: "has data that is missing or wrong, and was not sent", Who: "accounting/sales, in the ERP", Where: "ERP, in the document", Do: "Correct the ERP; the next run sends the row by itself."},
	Accepted: {What: "is on the platform", Who: "nobody", Where: "platform", Do: "Nothing."},
	InDoubt:  {What: "nobody knows whether the platform created the record (the answer was lost)", Who: "accounting", Where: "platform", Do: "Look on the platform: if it is there, `safrasync adopt` with its id; if not, `safrasync resend --checked`. It is never sent again by itself, so that nothing is doubled."},
	Held:     {What: "only a person can decide", Who: "accounting", Where: "platform and ERP", Do: "See the row's cause and decide: adopt the id, retry or dismiss."},
}

// englishFlags is the same in English.
var englishFlags = map[Flag]Advice{
	Changed:             {What: "the ERP changed after sending; the platform has what was sent", Who: "accounting", Where: "platform", Do: "Correct it on the platform by hand and record it with `safrasync acknowledge`."},
	MissingInERP:        {What: "the row is gone from the ERP since it was sent", Who: "accounting", Where: "ERP and platform", Do: "See why it left; if it was removed on purpose, remove it on the platform and record it with `safrasync acknowledge`."},
	Cancelled:           {What: "the row was cancelled in the ERP after it was sent", Who: "accounting", Where: "platform", Do: "Cancel it on the platform by hand and record it with `safrasync acknowledge`."},
	Forced:              {What: "it was sent again because a person decided so", Who: "nobody", Where: "audit", Do: "Nothing; the decision and its reason are in the audit."},
	EchoDiffers:         {What: "the platform's answer repeats other values than were sent", Who: "accounting", Where: "platform", Do: "Look at the record on the platform."},
	Twin:                {What: "another row of the ERP has the same content", Who: "accounting", Where: "ERP", Do: "See in the ERP whether they are really two documents."},
	NearTwin:            {What: "another row of the ERP has the same producer, product, date and volume, with another price or optional field", Who: "accounting", Where: "ERP", Do: "See in the ERP whether they are really two documents."},
	DeletedRemote:       {What: "the platform says that the record was deleted there", Who: "accounting", Where: "platform", Do: "Ask the platform's administrator why it was deleted."},
	Contradicted:        {What: "an answer that came later contradicts what a person decided", Who: "accounting", Where: "platform", Do: "See on the platform which record counts, and record it with `safrasync acknowledge`."},
	DoubleAfterDecision: {What: "the platform may have two records: the first sending was confirmed after the second", Who: "accounting", Where: "platform", Do: "Delete one of the two on the platform and record it with `safrasync acknowledge`."},
	Replaced: {
		What: "the row that was sent does not stand under this key any more: it has another number, or left the ERP; what stands here was never sent", Who: "IT and accounting", Where: "ERP and platform",
		Do: "If rows were renumbered: give the job a key that stays with its document, and enter the new document on the platform by hand. If the number was used again: give the new document a number of its own.",
	},
	Moved: {What: "the record belongs to the renumbered row now", Who: "nobody", Where: "ERP", Do: "Nothing; the new row answers for it."},
}
