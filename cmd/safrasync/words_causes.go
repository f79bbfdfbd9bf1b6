package main

import "github.com/safrasync/safrasync/trade"

// What is said of troubles beside what package trade says.
var causeColumn = phrase{"coluna %s", "column %s"}

// ruleAdvice is for rules that are not cured by correcting the row alone.
var ruleAdvice = map[trade.Lang]map[string]trade.Advice{
	trade.Portuguese: {
		trade.RuleUnmapped: {
			What: "{field}: a plataforma não conhece o valor do ERP", Who: "Comercial, no ERP; ou TI",
			Do: "Corrija {field} no ERP; se o valor estiver certo, a TI o inclui na tabela de conversão, ou o contrato é dispensado.",
		},
		trade.RuleUnreadable: {What: "{field}: texto ilegível no ERP", Who: "Comercial, no ERP; ou TI", Do: "Digite {field} outra vez no ERP; se houver muitos, a TI confere a codificação do banco."},
		trade.RuleUUID:       {Who: "TI", Do: "Corrija o identificador no de-para; as linhas seguem sozinhas na execução seguinte."},
		trade.RuleInternal:   {Who: "TI", Do: "Avise a TI: é uma falha do programa, e o registro de eventos diz mais."},
	},
	trade.English: {
		trade.RuleUnmapped: {
			What: "{field}: the platform does not know the ERP's value", Who: "sales, in the ERP; or IT",
			Do: "Correct {field} in the ERP; if the value is right, IT adds it to the map of values, or the contract is dismissed.",
		},
		trade.RuleUnreadable: {What: "{field}: unreadable text in the ERP", Who: "sales, in the ERP; or IT", Do: "Type {field} again in the ERP; if there are many, IT looks at the database's character set."},
		trade.RuleUUID:       {Who: "IT", Do: "Correct the id in the de-para; the rows go by themselves in the next run."},
		trade.RuleInternal:   {Who: "IT", Do: "Tell IT: this is a fault of the program, and its log says more."},
	},
}
