package sync

import (
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
)

// The names by which callers reach what stands in the packages of the engine. In this folder the
// packages themselves are named.
type (
	// Acts are what people do to rows and jobs, for the command line and the console alike.
	Acts = acts.Acts
	// Adoption is what a person says of a row that is in doubt or held.
	Adoption = acts.Adoption
	// Decided is what became of somebody's answer to an act that waits for it.
	Decided = acts.Decided
	// Elsewhere is an act that can be approved, and is planned and done outside of the acts.
	Elsewhere = acts.Elsewhere
	// FieldReading is one field as it was sent and as the platform has it; null where it is
	// absent.
	FieldReading = acts.FieldReading
	// JobMovePlan is what it would mean that the entries of a job go to another one.
	JobMovePlan = acts.JobMovePlan
	// JobPlan is what an act would do to a job.
	JobPlan = acts.JobPlan
	// ActOrder is what a person wants done, in a form that can be kept and planned again.
	ActOrder = acts.Order
	// Person is who orders an act, and why.
	Person = acts.Person
	// Readback is what the platform has under an id, beside what was sent, field by field in the
	// order of the API's table.
	Readback = acts.Readback
	// Planned is what was planned, as it is kept until others agree.
	Planned = acts.Planned
	// PlannedStep is what would become of one row, as it is kept.
	PlannedStep = acts.PlannedStep
	// Reader reads a record of the platform back.
	Reader = acts.Reader
	// Refusal says why an act cannot be done.
	Refusal = acts.Refusal
	// Release is what a release lets go.
	Release = acts.Release
	// Remapper maps a row as the ERP has it now.
	Remapper = acts.Remapper
	// Review is an act that waits for others, as its plan is now.
	Review = acts.Review
	// Rules say which acts need several people.
	Rules = acts.Rules
	// RowPlan is what an act would do to rows.
	RowPlan = acts.RowPlan
	// RowStep is what an act would do to one row.
	RowStep = acts.RowStep
	// SystemClock is the machine's clock.
	SystemClock = clock.SystemClock
	// Resync asks a pass to read again, and to judge again with the mapping of today, also rows in
	// which nothing has changed.
	Resync = discovery.Resync
	// Suggestion is a record of which an event told and that a row in doubt may be.
	Suggestion = events.Suggestion
	// Timing is how well the time of a record fits to a request.
	Timing = events.Timing
	// CancelledSpec tells which rows count as cancelled in the ERP.
	CancelledSpec = mapping.CancelledSpec
	// FieldSpec says where one field comes from and how its text is read.
	FieldSpec = mapping.FieldSpec
	// Job is a compiled [JobSpec].
	Job = mapping.Job
	// JobSpec is one job as the configuration describes it (`jobs:`), in plain data.
	JobSpec = mapping.JobSpec
	// ParentSpec names a job and the columns that hold the key of its row.
	ParentSpec = mapping.ParentSpec
	// ReferenceSpec reads one de-para kind from the ERP at the start of each run (`references:`).
	ReferenceSpec = mapping.ReferenceSpec
	// RowField is one field of a row of the ledger as today's mapping reads it.
	RowField = mapping.RowField
	// ShowSpec is a column of the query that people are shown, under a label.
	ShowSpec = mapping.ShowSpec
	// SpecError is a fault of the configuration at a place.
	SpecError = mapping.SpecError
	// TwinCheck says what happens to a row that another living row of the ERP equals.
	TwinCheck = mapping.TwinCheck
	// Audit says which rules the rows of the ERP break, as the ERP has them now.
	Audit = rehearse.Audit
	// Breach is one rule of one field with the rows that break it.
	Breach = rehearse.Breach
	// CancelledColumn is what stands in the column of `cancelled`.
	CancelledColumn = rehearse.CancelledColumn
	// Case is a row with everything that its mapping may depend on.
	Case = rehearse.Case
	// Difference is one row that was sent, with what the present configuration would make of the
	// same row.
	Difference = rehearse.Difference
	// DifferenceKind is what the present configuration makes of a row that was sent.
	DifferenceKind = rehearse.DifferenceKind
	// FieldChange is one field of a payload, as JSON text; "" = absent.
	FieldChange = rehearse.FieldChange
	// IdentityFinding is what a configuration does to what is the same.
	IdentityFinding = rehearse.IdentityFinding
	// Judgement is one row that does not go as it is, or goes with a remark.
	Judgement = rehearse.Judgement
	// Preview is the request that would go out for a row as the ERP has it now.
	Preview = rehearse.Preview
	// Reasons is the answer to "why was this row sent, or not?", from the ERP to the platform.
	Reasons = rehearse.Reasons
	// Shortness is what rows wait for.
	Shortness = rehearse.Shortness
	// Survey is what the rows of a job say of its configuration.
	Survey = rehearse.Survey
	// ValueCount is a value of the ERP with the rows that have it.
	ValueCount = rehearse.ValueCount
	// Verdict is what the mapping and the rules make of a row.
	Verdict = rehearse.Verdict
	// Brakes say what pauses a job before anything of it leaves, until a person has looked and
	// released it (`brakes:`).
	Brakes = run.Brakes
	// CodeKeeper keeps what ERP codes stand for.
	CodeKeeper = run.CodeKeeper
	// Ledger is what the engine needs of its storage.
	Ledger = run.Ledger
	// Limits are the engine's own settings (`api:`).
	Limits = run.Limits
	// Platform is the API.
	Platform = run.Platform
	// Progress tells how far a job has come.
	Progress = run.Progress
	// Source is the ERP.
	Source = run.Source
	// EventProcessor acts on what the platform tells; see [events.Processor].
	EventProcessor = events.Processor
)

// Constants of the packages of the engine.
const (
	ActClose       = acts.ActClose
	ActRelease     = acts.ActRelease
	ActResync      = acts.ActResync
	ActSetCode     = acts.ActSetCode
	AlreadyPaused  = acts.AlreadyPaused
	BrakeHolds     = acts.BrakeHolds
	CancelledNow   = acts.CancelledNow
	Differs        = acts.Differs
	DoubleKey      = acts.DoubleKey
	DoubtBefore    = acts.DoubtBefore
	GoesAnyway     = acts.GoesAnyway
	GoneFromERP    = acts.GoneFromERP
	IDTaken        = acts.IDTaken
	InQuarantine   = acts.InQuarantine
	IsAccepted     = acts.IsAccepted
	IsDismissed    = acts.IsDismissed
	IsInDoubt      = acts.IsInDoubt
	IsInvalid      = acts.IsInvalid
	KeysCollide    = acts.KeysCollide
	Moved          = acts.Moved
	NeedsID        = acts.NeedsID
	NoEntries      = acts.NoEntries
	NotAccepted    = acts.NotAccepted
	NotAnID        = acts.NotAnID
	NotAsked       = acts.NotAsked
	NotChecked     = acts.NotChecked
	NotDismissed   = acts.NotDismissed
	NotOnPlatform  = acts.NotOnPlatform
	NotPaused      = acts.NotPaused
	NotRefused     = acts.NotRefused
	NothingBraked  = acts.NothingBraked
	NothingToAck   = acts.NothingToAck
	UnknownRow     = acts.UnknownRow
	WaitsFor       = acts.WaitsFor
	TimeFits       = events.TimeFits
	TwinHold       = mapping.TwinHold
	ChangedKey     = rehearse.ChangedKey
	ChangedSpace   = rehearse.ChangedSpace
	FormerJob      = rehearse.FormerJob
	NotComparable  = rehearse.NotComparable
	SharedKeys     = rehearse.SharedKeys
	SplitJob       = rehearse.SplitJob
	WouldBeRefused = rehearse.WouldBeRefused
	WouldBeTheSame = rehearse.WouldBeTheSame
	WouldDiffer    = rehearse.WouldDiffer
	WouldWait      = rehearse.WouldWait
	Done           = run.Done
	Reading        = run.Reading
	Resting        = run.Resting
	Sending        = run.Sending
	LongestRest    = sending.LongestRest
)

// Functions and errors of the packages of the engine.
var (
	AnsweredFields = acts.AnsweredFields
	ApproverOf     = acts.ApproverOf
	BulkStates     = acts.BulkStates
	EqualTexts     = acts.EqualTexts
	MarkOf         = acts.MarkOf
	PlannedOf      = acts.PlannedOf
	SentFields     = acts.SentFields
	EveryMinuteOf  = clock.EveryMinuteOf
	ParseHours     = clock.ParseHours
	ParseSchedule  = clock.ParseSchedule
	Suggestions    = events.Suggestions
	Compile        = mapping.Compile
	Differences    = mapping.Differences
	KeyParts       = mapping.KeyParts
	PathOf         = mapping.PathOf
	CheckIdentity  = rehearse.CheckIdentity
	ErrNotInQuery  = rehearse.ErrNotInQuery
	Try            = rehearse.Try
	Codes          = run.Codes
	DefaultBrakes  = run.DefaultBrakes
)
