package auth

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// usersPage is the data of the list of users.
type usersPage struct {
	Users []userShown
	Roles []trade.Role
	Fault string // key of a phrase
	Name  string // as typed
	Role  trade.Role
	From  string // the configured issuer; "" = none
	Open  string // whose form is open: the password was refused, or an act is to be confirmed
	Sure  string // the act to confirm: disable, end
	Mine  string // the login of this browser
}

// userShown is a person with the browsers in which the person is logged in.
type userShown struct {
	trade.User
	Logins []trade.Login // newest use first
}

// Seen returns when the person was last there.
func (u userShown) Seen() time.Time {
	if len(u.Logins) > 0 && u.Logins[0].SeenAt.After(u.LastLogin) {
		return u.Logins[0].SeenAt
	}
	return u.LastLogin
}

func (s *Sessions) showUsers(q *web.Request) error {
	return s.users(q, http.StatusOK, usersPage{Role: trade.Reader, Open: q.Form.Get("open")})
}

func (s *Sessions) users(q *web.Request, status int, page usersPage) (err error) {
	page.Roles, page.Mine = trade.Roles, q.Login.Hash
	if s.OpenID != nil {
		page.From = s.OpenID.Issuer
	}
	users, err := s.Users.Users(q.Context())
	if err != nil {
		return err
	}
	logins, err := s.logins(q)
	if err != nil {
		return err
	}
	page.Users = trade.Map(users, func(u trade.User) userShown { return userShown{u, logins[u.ID]} })
	return q.Page(status, "users", page)
}

// logins returns the logins that have not expired, by user.
func (s *Sessions) logins(q *web.Request) (map[int64][]trade.Login, error) {
	all, err := s.Logins.AllLogins(q.Context())
	out := map[int64][]trade.Login{}
	for _, l := range all {
		if !s.expired(q, l) {
			out[l.User.ID] = append(out[l.User.ID], l)
		}
	}
	return out, err
}

func (s *Sessions) addUser(q *web.Request) error {
	page := usersPage{Name: NewUserName(q.PostForm.Get("name")), Role: trade.Role(q.PostForm.Get("role"))}
	password := q.PostForm.Get("password")
	refuse := func(key string) error {
		page.Fault, page.Name = key, q.PostForm.Get("name")
		return s.users(q, http.StatusUnprocessableEntity, page)
	}
	switch fault := PasswordFault(password, page.Name); {
	case page.Name == "":
		return refuse("The name begins with a letter or digit and has only Latin letters, digits, single blanks and . _ - @, at most 100 characters; root and safrasync are reserved.")
	case !slices.Contains(trade.Roles, page.Role):
		return refuse("Choose a role.")
	case fault != "":
		return refuse(fault)
	}
	hash, err := s.hashes.hash(q, password)
	if err != nil {
		return err
	}
	err = s.Users.AddUser(q.Context(), trade.User{
		Name: page.Name, Role: page.Role, Password: hash, FirstPassword: true,
	}, q.Person(""))
	if errors.Is(err, trade.ErrNameTaken) {
		return refuse("This name already exists. Names are never reassigned to another person, because of the audit.")
	}
	if err != nil {
		return err
	}
	return q.Done("users.add", "/users")
}

// changeUser changes the role, the password or the disabled flag of a user, or only ends the
// logins. In every case the user's logins end.
func (s *Sessions) changeUser(q *web.Request) error {
	user, err := s.Users.User(q.Context(), q.PathValue("name"))
	if errors.Is(err, trade.ErrNobody) {
		return web.ErrNotFound
	}
	if err != nil {
		return err
	}
	before := user
	refuse := func(key string) error {
		return s.users(q, http.StatusUnprocessableEntity, usersPage{Fault: key, Role: trade.Reader, Open: user.Name})
	}
	act := q.PostForm.Get("do")
	// the next login would set the role again, and a password would never be used
	if user.Issuer != "" && (act == "role" || act == "password") {
		return refuse("users.elsewhere")
	}
	if (act == "end" || act == "disable") && q.PostForm.Get("sure") != "1" {
		return s.users(q, http.StatusOK, usersPage{Role: trade.Reader, Open: user.Name, Sure: act})
	}
	switch act {
	case "end_one":
		logins, err := s.logins(q)
		if err != nil {
			return err
		}
		hash := q.PostForm.Get("login")
		if !slices.ContainsFunc(logins[user.ID], func(l trade.Login) bool { return l.Hash == hash }) { // it has ended
			return s.users(q, http.StatusConflict, usersPage{
				Fault: "This session has already ended.", Role: trade.Reader, Open: user.Name,
			})
		}
		err = s.Logins.LogOut(q.Context(), hash, q.Record("user end one", user.Name, ""))
		if err != nil {
			return err
		}
		return q.Done("users.end_one", "/users")
	case "end": // storing the user unchanged ends every login
	case "disable", "enable":
		user.Disabled = act == "disable"
	case "role":
		user.Role = trade.Role(q.PostForm.Get("role"))
		if !slices.Contains(trade.Roles, user.Role) {
			return refuse("Choose a role.")
		}
	case "password":
		password := q.PostForm.Get("password")
		if fault := PasswordFault(password, user.Name); fault != "" {
			return refuse(fault)
		}
		user.Password, err = s.hashes.hash(q, password)
		if err != nil {
			return err
		}
		user.PasswordAt, user.FirstPassword = q.Site.Now(), user.Name != q.Login.User.Name
	default:
		return web.BadRequest("form")
	}
	done, err := s.Users.ChangeUser(q.Context(), before, user, "user "+act, q.Person(""))
	switch {
	case errors.Is(err, trade.ErrLastAdministrator):
		return refuse("This is the last administrator. Add another one first.")
	case err != nil:
		return err
	case !done:
		return refuse("This user has just been changed. Check again.")
	}
	return q.Done("users."+act, "/users")
}
