package main

// What doctor says.
var (
	doctorSumsRight   = phrase{"Contadas de novo: as somas guardadas já eram as das linhas.", "Counted anew: the kept sums were those of the rows already."}
	doctorRecounted   = phrase{"Contadas de novo e corrigidas as somas dos jobs %s. Nenhuma linha mudou.", "The sums of the jobs %s were counted anew and put right. No row has changed."}
	doctorRole        = phrase{"o usuário do ERP poderia alterar a tabela %s; o programa nunca escreve", "the ERP user could change the table %s; the program never writes"}
	doctorRoleHint    = phrase{"dê ao programa um usuário que só tenha SELECT", "give the program a user that has SELECT only"}
	doctorRoleOK      = phrase{"nada indica que o usuário do ERP possa escrever", "nothing says that the ERP user could write"}
	doctorSecrets     = phrase{"%s pode ser alterado por outros (modo %04o)", "%s can be changed by others (mode %04o)"}
	doctorSecretsHint = phrase{"quem altera a configuração decide para onde vão os dados: chmod go-w nesse arquivo", "who changes the configuration decides where the data goes: chmod go-w on that file"}
	doctorMessages    = phrase{"a plataforma respondeu com chaves que ainda não têm explicação: %s", "the platform answered with keys that have no words yet: %s"}
	doctorMessage     = phrase{"%s (%d×, a última em %s)", "%s (%d×, last at %s)"}
	doctorMessagesOK  = phrase{"toda chave com que a plataforma respondeu tem explicação", "every key that the platform answered with has words"}

	doctorMessagesHint = phrase{
		"pergunte ao suporte da plataforma o que significam e escreva no arquivo de messages: (docs/examples/messages.yaml)",
		"ask the platform's support what they mean, and write it into the file of messages: (docs/examples/messages.yaml)",
	}

	doctorSecretsOK = phrase{"%s só pode ser alterado pelo dono", "%s can be changed by its owner only"}
)

var (
	wayRestore = phrase{"pare o programa e restaure a cópia (`safrasync restore ARQUIVO`), ou refaça o registro local a partir do diário (`safrasync rebuild`)", "stop the program and restore the copy (`safrasync restore FILE`), or make the ledger anew from its journal (`safrasync rebuild`)"}
	wayRecount = phrase{"rode `safrasync doctor --recount`: conta as linhas de novo e corrige as somas", "run `safrasync doctor --recount`: it counts the rows anew and puts the sums right"}
	wayJournal = phrase{"defina state.journal na configuração", "set state.journal in the configuration"}
)

// doctorWords are the sentences of what was looked at, by "check problem"; without a problem there is no hint.
var doctorWords = map[string]faultPhrase{
	"schema ":           {phrase{"o esquema é o deste programa", "the schema is this program's"}, phrase{}},
	"integrity ":        {phrase{"as páginas do arquivo estão em ordem", "the pages of the file are in order"}, phrase{}},
	"integrity damaged": {phrase{"o arquivo está danificado: %v", "the file is damaged: %v"}, wayRestore},

	"foreign_keys ":       {phrase{"nenhuma linha aponta para algo que não existe", "no row points at something that does not exist"}, phrase{}},
	"foreign_keys broken": {phrase{"há linhas sem par nas tabelas %v", "rows of the tables %v lack their partner"}, wayRestore},

	"sums ":       {phrase{"as somas guardadas são as das linhas", "the kept sums are those of the rows"}, phrase{}},
	"sums uneven": {phrase{"as somas guardadas dos jobs %v não são as das linhas", "the kept sums of the jobs %v are not those of the rows"}, wayRecount},

	"audit ":       {phrase{"a auditoria está como foi escrita", "the audit is as it was written"}, phrase{}},
	"audit broken": {phrase{"na auditoria o registro %d falta ou foi alterado", "record %d of the audit is missing or was altered"}, wayRestore},

	"journal ":           {phrase{"%s: inteiro e de acordo com o registro local, %d registros, %d bytes", "%s: whole and in step with the ledger, %d records, %d bytes"}, phrase{}},
	"journal none":       {phrase{"nenhuma pasta para o diário está configurada", "no folder for the journal is configured"}, wayJournal},
	"journal new":        {phrase{"ainda não existe; a próxima execução o começa", "does not exist yet; the next run begins it"}, phrase{}},
	"journal unfinished": {phrase{"tem um registro que o registro local ainda não tem", "has one record that the ledger does not have yet"}, checkJournalUnfinishedHint},

	"durability ": {phrase{"o que é gravado fica gravado, também se faltar energia", "what is stored stays stored, also when the power fails"}, phrase{}},

	"clock ":       {phrase{"nenhum horário do registro local está no futuro", "no time of the ledger is in the future"}, phrase{}},
	"clock future": {phrase{"o registro local tem um horário no futuro: %v", "the ledger has a time in the future: %v"}, checkClockHint},

	"leases ":     {phrase{"nenhum job está preso por um processo que morreu", "no job is held by a process that died"}, phrase{}},
	"leases dead": {phrase{"o job %s foi deixado pelo processo %d em %s", "the job %s was left by process %d on %s"}, phrase{"nada a fazer: a próxima execução o assume", "nothing to do: the next run takes it over"}},

	"attempts ":    {phrase{"nenhum envio está aberto há muito tempo", "no attempt has been open for long"}, phrase{}},
	"attempts old": {phrase{"%d envio(s) abertos desde %v", "%d attempt(s) open since %v"}, phrase{"rode `safrasync sync`: as linhas ficam em dúvida e uma pessoa decide", "run `safrasync sync`: the rows become in doubt, and a person decides"}},

	"wal ":      {phrase{"o arquivo -wal tem tamanho normal", "the -wal file has a normal size"}, phrase{}},
	"wal large": {phrase{"o arquivo -wal tem %d bytes", "the -wal file has %d bytes"}, phrase{"uma leitura que não termina o faz crescer: procure uma cópia ou um shell com o arquivo aberto", "a reader that never ends keeps it growing: look for a backup or a shell that has the file open"}},

	"space ":    {phrase{"há espaço livre em disco", "there is free space on the disk"}, phrase{}},
	"space low": {phrase{"em %s restam %d MiB livres", "%s has %d MiB left"}, phrase{"libere espaço: com o disco cheio nada é enviado", "free space: with a full disk nothing is sent"}},

	"file_system ":            {phrase{"registro local e diário estão em discos desta máquina", "ledger and journal are on disks of this host"}, phrase{}},
	"file_system not_lasting": {phrase{"%s está em %s", "%s is on %s"}, phrase{"o que está ali some com o contêiner ou a máquina, ou fica na rede: use um disco local", "what is there goes with the container or the host, or is on the network: use a local disk"}},

	"rights ":     {phrase{"só o dono lê e altera o registro local e o diário", "only the owner reads and changes ledger and journal"}, phrase{}},
	"rights mode": {phrase{"%s tem modo %04o, precisa de %04o", "%s has mode %04o, needs %04o"}, phrase{"corrija com chmod", "correct it with chmod"}},
}
