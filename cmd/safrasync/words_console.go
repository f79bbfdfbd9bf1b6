package main

// What is said of the console and its users at the command line.
var (
	runNoConsole = phrase{"painel: %s", "console: %s"}

	helpUsers         = phrase{"as pessoas do painel", "the people of the console"}
	helpUsersList     = phrase{"lista os usuários do painel", "list the users of the console"}
	helpUsersAdd      = phrase{"cadastra um usuário do painel; a senha é pedida no terminal", "add a user of the console; the password is asked for at the terminal"}
	helpUsersDisable  = phrase{"desliga um usuário; as sessões dele terminam já", "disable a user; the user's sessions end at once"}
	helpUsersEnable   = phrase{"religa um usuário", "enable a user again"}
	helpUsersPassword = phrase{"põe outra senha; as sessões do usuário terminam, e quem entrava pelo provedor de console.oidc volta a entrar com ela", "set another password; the user's sessions end, and who came by the provider of console.oidc logs in with it again"}
	helpUsersRole     = phrase{"muda o perfil: reader (leitura), accountant (contabilidade) ou administrator (administração)", "change the role: reader, accountant or administrator"}

	usersNobody    = phrase{"Ninguém foi cadastrado ainda. `safrasync users add NOME --role administrator` cadastra o primeiro administrador.", "Nobody was added yet. `safrasync users add NAME --role administrator` adds the first administrator."}
	usersHeadName  = phrase{"Usuário", "User"}
	usersHeadRole  = phrase{"Perfil", "Role"}
	usersHeadSince = phrase{"Desde", "Since"}
	usersHeadState = phrase{"Situação", "State"}
	usersActive    = phrase{"ativo", "active"}
	usersDisabled  = phrase{"desligado", "disabled"}
	usersNoRole    = phrase{"não há o perfil %q; há reader (leitura), accountant (contabilidade) e administrator (administração)", "there is no role %q; there are reader, accountant and administrator"}
	usersNoName    = phrase{"o nome do usuário não pode ficar vazio, passar de 100 caracteres nem ter quebra de linha ou um destes: / \\ ? # ou porcentagem", "the user's name cannot be empty, longer than 100 characters, or have a line break or one of these: / \\ ? # or a per cent sign"}
	usersTaken     = phrase{"já existe o usuário %s (um nome nunca passa a outra pessoa, por causa da auditoria)", "there is a user %s already (a name never becomes another person's, because of the audit)"}
	usersUnknown   = phrase{"não há o usuário %s; `safrasync users list` os mostra", "there is no user %s; `safrasync users list` shows them"}
	usersMoved     = phrase{"o usuário %s mudou neste momento; repita", "user %s changed at this moment; repeat"}
	usersLast      = phrase{"é o último administrador: cadastre outro primeiro", "it is the last administrator: add another one first"}
	usersAsk       = phrase{"Senha (ao menos 12 caracteres; não aparece): ", "Password (at least 12 characters; it is not shown): "}
	usersAskAgain  = phrase{"A mesma senha, outra vez: ", "The same password, again: "}
	usersDiffer    = phrase{"as duas senhas não são iguais", "the two passwords are not the same"}
	usersNoAsking  = phrase{"não há terminal para pedir a senha: use --password-stdin", "there is no terminal to ask for the password: use --password-stdin"}
	helpUsersEnd   = phrase{"termina as sessões de um usuário", "end the sessions of a user"}
	helpUsersLink  = phrase{"liga um usuário à pessoa que o provedor de console.oidc chama de SUBJECT; a senha dele deixa de valer (se SUBJECT começa com -: users link -- NAME SUBJECT)", "link a user to the person whom the provider of console.oidc calls SUBJECT; the password no longer counts (if SUBJECT begins with -: users link -- NAME SUBJECT)"}
	usersComes     = phrase{" (por %s)", " (by %s)"}
	usersElsewhere = phrase{"%s entra por %s, que lhe dá o perfil; `safrasync users password` faz a pessoa voltar a entrar com uma senha", "%s logs in by %s, which gives the role; `safrasync users password` lets the person log in with a password again"}
	usersNoIssuer  = phrase{"a configuração não tem console.oidc", "the configuration has no console.oidc"}
	usersNoSubject = phrase{"o código da pessoa no provedor não pode ficar vazio nem passar de 255 bytes", "the provider's code of the person cannot be empty, nor longer than 255 bytes"}
	usersLinked    = phrase{"%s já é outro usuário: `safrasync users list --json` o mostra", "%s is another user already: `safrasync users list --json` shows it"}
	usersDone      = phrase{"%s: feito", "%s: done"}
)

// What check says of the provider of logins.
var (
	checkIssuerOK   = phrase{"%s responde e tem chaves", "%s answers and has keys"}
	checkIssuerHint = phrase{"quem tem senha no painel entra; os outros, só quando o provedor responder: confira console.oidc.issuer, ca_file e proxy", "who has a password in the console can log in; the others only when the provider answers: check console.oidc.issuer, ca_file and proxy"}
)

// passwordWords say why a password may not be used, by the console's code.
var passwordWords = map[string]phrase{
	"password.unreadable": {"a senha tem caracteres que não se leem", "the password has characters that cannot be read"},
	"password.short":      {"a senha precisa de ao menos 12 caracteres", "the password needs at least 12 characters"},
	"password.long":       {"a senha tem mais de 128 caracteres", "the password has more than 128 characters"},
	"password.common":     {"a senha é das primeiras que alguém tentaria; escolha outra", "the password is among the first that somebody would try; choose another one"},
}

// roleWords are the names of the roles.
var roleWords = map[string]phrase{
	"reader": {"leitura", "reader"}, "accountant": {"contabilidade", "accountant"}, "administrator": {"administração", "administrator"},
}
