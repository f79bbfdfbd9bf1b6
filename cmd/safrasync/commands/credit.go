package commands

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// The paths of chapter 4 for plans and the audit, without ids and queries: two queries contain a
// document number.
const (
	pathCreditScore    = "/api/v1/integration/financial/credit-score"
	pathCreditAnalysis = "/api/v1/integration/financial/analysis-credit"
)

// apiCNPJ reads the CNPJ of a company; an empty text is allowed.
func apiCNPJ(a *cli.App, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	number, wrong := readDocument(text)
	if wrong != "" && wrong != zeroLost || wrong == "" && len(number) != 14 {
		wrong = "%s is not a valid CNPJ; check its digits"
	}
	if wrong != "" {
		return "", a.Usage(wrong, "--corporate-identity")
	}
	return number, nil
}

func newAPICreditScoreCommand(a *cli.App) *cobra.Command {
	var r apiclient.CreditScoreRequest
	var reports []string
	var f cli.ActFlags
	var create *cobra.Command
	create = a.Command("create --name NAME --social-id DOCUMENT --reports REPORT", "request a credit score; it may cost money", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			if err := needFlags(a, create, "name", "social-id", "reports"); err != nil {
				return err
			}
			r.Reports = trade.Map(reports, func(text string) apiclient.CreditReport {
				return apiclient.CreditReport(text)
			})
			if !create.Flags().Changed("car-list") {
				r.CarList = nil
			}
			if !create.Flags().Changed("sigef-list") {
				r.SigefList = nil
			}
			var err error
			r.SocialID, err = apiDocument(a, "--social-id", r.SocialID)
			if err != nil {
				return err
			}
			if _, err := r.Encode(); err != nil {
				return usageOf(a, err)
			}
			masked := maskDocument(r.SocialID)
			fields := []apiField{{"name", a.Text("(given)")}, {"social_id", masked}, {"reports", cli.Listed(r.Reports)}}
			if r.CarList != nil {
				fields = append(fields, apiField{"car_list", cli.Listed(r.CarList)})
			}
			if r.SigefList != nil {
				fields = append(fields, apiField{"sigef_list", cli.Listed(r.SigefList)})
			}
			return actByHand(ctx, a, apiCall{
				act: "api credit-score create", verb: "POST", path: pathCreditScore, target: masked, fields: fields,
				notes: []i18n.Key{"This request may cost money.", "The result is shown only now: the API does not show it again."}, doubt: "Do not repeat it: it could be executed and charged twice. Ask the platform's support.",
				send: func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
					_, answer, err := c.RequestCreditScore(ctx, r)
					return answer, err
				},
			}, f)
		})
	flags := create.Flags()
	flags.StringVar(&r.Name, "name", "", "the producer's `NAME`")
	flags.StringVar(&r.SocialID, "social-id", "", "the producer's `CPF or CNPJ`")
	flags.StringSliceVar(&reports, "reports", nil,
		a.Phrase("`REPORTS`: %s, or others that the platform has", cli.Listed(apiclient.Reports)))
	flags.StringSliceVar(&r.CarList, "car-list", nil, "rural properties (`CAR`), which improve the analysis")
	flags.StringSliceVar(&r.SigefList, "sigef-list", nil, "`SIGEF` parcels, which improve the analysis; may be empty")
	f.Add(create)
	cli.Completes(a, create, "reports", apiclient.Reports)
	group := a.Group("credit-score", "credit scores")
	group.AddCommand(create)
	return group
}

func newAPICreditAnalysisCommand(a *cli.App) *cobra.Command {
	var r apiclient.CreditAnalysisRequest
	var authType, personType string
	var f cli.ActFlags
	var create *cobra.Command
	create = a.Command("create --requester-id ID --name NAME --identity DOCUMENT …", "request a credit analysis; it may cost money",
		cli.Exactly(0), func(ctx context.Context, _ []string) error {
			err := needFlags(a, create, "requester-id", "requester-name", "requester-email", "name", "identity",
				"auth-type",
				"person-type", "period-consult")
			if err != nil {
				return err
			}
			r.AuthType = apiclient.AuthType(authType)
			r.PersonType, err = apiPersonType(a, personType)
			if err != nil {
				return err
			}
			for flag, value := range map[string]string{
				"--corporate-name":     r.CorporateName,
				"--corporate-identity": r.CorporateIdentity,
			} {
				if r.PersonType == apiclient.PF && value != "" {
					return a.Usage("%s is for a company, and --person-type is PF", flag)
				}
			}
			var errs [3]error
			r.RequesterID, errs[0] = apiID(a, "--requester-id", r.RequesterID)
			r.Identity, errs[1] = apiDocument(a, "--identity", r.Identity)
			r.CorporateIdentity, errs[2] = apiCNPJ(a, r.CorporateIdentity)
			if err := errors.Join(errs[:]...); err != nil {
				return err
			}
			if _, err := r.Encode(); err != nil {
				return usageOf(a, err)
			}
			given, masked := a.Text("(given)"), maskDocument(r.Identity)
			fields := []apiField{
				{"requester_id", r.RequesterID},
				{"requester_name", given},
				{"requester_email", given},
				{"name", given},
				{"identity", masked},
				{"auth_type", string(r.AuthType)},
				{"person_type", string(r.PersonType)},
				{"period_consult", r.PeriodConsult},
			}
			for _, o := range []struct{ name, value, shown string }{
				{"email", r.Email, given},
				{"phone", r.Phone, given},
				{"corporate_name", r.CorporateName, given},
				{"corporate_identity", r.CorporateIdentity, maskDocument(r.CorporateIdentity)},
			} {
				if o.value != "" {
					fields = append(fields, apiField{o.name, o.shown})
				}
			}
			return actByHand(ctx, a, apiCall{
				act: "api credit-analysis create", verb: "POST", path: pathCreditAnalysis, target: masked,
				fields: fields,
				notes:  []i18n.Key{"This request may cost money."}, doubt: "Do not repeat it: it could be executed and charged twice. Ask the platform's support.",
				send: func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
					return c.CreateCreditAnalysis(ctx, r)
				},
			}, f)
		})
	flags := create.Flags()
	flags.StringVar(&r.RequesterID, "requester-id", "", "`UUID` of the requesting user")
	flags.StringVar(&r.RequesterName, "requester-name", "", "the requesting user's `NAME`")
	flags.StringVar(&r.RequesterEmail, "requester-email", "", "the requesting user's e-mail `ADDRESS`")
	flags.StringVar(&r.Name, "name", "", "the producer's `NAME`")
	flags.StringVar(&r.Identity, "identity", "", "the producer's `CPF or CNPJ`")
	flags.StringVar(&authType, "auth-type", "",
		a.Phrase("`TYPE` of the consent's authentication: %s, or another that the platform has", cli.Listed(apiclient.AuthTypes)))
	flags.StringVar(&personType, "person-type", "", a.Phrase("`TYPE`: %s", cli.Listed(apiclient.PersonTypes)))
	flags.StringVar(&r.PeriodConsult, "period-consult", "", "how many `MONTHS` to look back")
	flags.StringVar(&r.Email, "email", "", "the producer's e-mail `ADDRESS`")
	flags.StringVar(&r.Phone, "phone", "", "the producer's telephone `NUMBER`")
	flags.StringVar(&r.CorporateName, "corporate-name", "", "the company's `NAME`, when PJ")
	flags.StringVar(&r.CorporateIdentity, "corporate-identity", "", "the company's `CNPJ`, when PJ")
	f.Add(create)
	cli.Completes(a, create, "auth-type", apiclient.AuthTypes)
	cli.Completes(a, create, "person-type", apiclient.PersonTypes)

	get := getCommand(a, "ID", "show a credit analysis", apiID, (*apiclient.Client).GetCreditAnalysis)
	group := a.Group("credit-analysis", "credit analyses")
	group.AddCommand(create, get)
	return group
}

// named matches a document with its kind before it, as lists often have it: "CPF 529.982.247-25",
// "CNPJ: 11…".
var named = regexp.MustCompile(`(?is)^\s*(CPF|CNPJ)(?:\s*n[º°])?[\s\x{a0}:.-]*(.*)$`)

// zeroLost is the fault of a document that is one digit too short.
const zeroLost i18n.Key = "%s is one digit too short; a spreadsheet may have dropped a leading zero (format the column as text)"

// readDocument reads a CPF or CNPJ, with or without its kind before it. If it cannot be read, wrong
// is the key of a text that takes the name of the flag or column.
//
// "CPF" and 11 digits have the length of a CNPJ, and since July 2026 a CNPJ may have letters. Text
// that begins with "CPF" means a CPF: it is read as one or refused, never taken for a company. A
// CNPJ that really begins so is recognised by its own punctuation, 12.ABC.345/01DE-35.
func readDocument(text string) (number string, wrong i18n.Key) {
	if m := named.FindStringSubmatch(text); m != nil {
		name, rest := strings.ToUpper(m[1]), m[2]
		digits := strings.Trim(bareDocument(rest), "0123456789") == ""
		switch {
		case name == "CPF" && digits && len(bareDocument(rest)) == 11:
			if number, err := apiclient.ParseCPF(rest); err == nil {
				return number, ""
			}
			return "", "%s begins with CPF, but what follows is not a valid CPF; give only the number"
		case name == "CNPJ" && len(bareDocument(rest)) == 14:
			text = rest
		}
	}
	number, _, err := apiclient.ParseDocument(text)
	switch n := len(bareDocument(text)); {
	case err == nil:
		return number, ""
	case n == 10 || n == 13:
		return "", zeroLost
	}
	return "", "%s is not a valid CPF or CNPJ; check its digits"
}

// bareDocument returns a document without its punctuation.
func bareDocument(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
			return r
		}
		return -1
	}, text)
}
