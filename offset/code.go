package offset

import "strconv"

// codeNames are the names of the codes, as docs/errors.md and labels of
// metrics have them.
var codeNames = [...]string{
	CodeOK:             "ok",
	CodeInvalid:        "invalid",
	CodeDenied:         "denied",
	CodeNotLeader:      "not_leader",
	CodeNotReady:       "not_ready",
	CodeBusy:           "busy",
	CodeNoLeader:       "no_leader",
	CodeFenced:         "fenced",
	CodeNotApplied:     "not_applied",
	CodeSuperseded:     "superseded",
	CodeTooOld:         "too_old",
	CodeNotFound:       "not_found",
	CodeOutcomeUnknown: "outcome_unknown",
	CodeForeignCluster: "foreign_cluster",
	CodeImportBusy:     "import_busy",
	CodeNoImport:       "no_import",
	CodeLimit:          "limit",
	CodeLevel:          "level",
	CodeClosed:         "closed",
	CodeDamaged:        "damaged",
	CodeUnreachable:    "unreachable",
}

// String gives the code's name; of one that this build does not know, its number.
func (c Code) String() string {
	if int(c) >= len(codeNames) {
		return "code_" + strconv.Itoa(int(c))
	}
	return codeNames[c]
}

// Codes returns all codes but CodeOK, in the order of their numbers.
func Codes() []Code {
	list := make([]Code, 0, len(codes))
	for _, r := range codes {
		list = append(list, r.code)
	}
	return list
}
