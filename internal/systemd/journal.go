package systemd

import (
	"io"
	"os"

	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// ToJournal reports whether the journal reads what is written to w, so that a line may begin with
// its priority. The manager names the journal's stream in $JOURNAL_STREAM by device and inode.
func ToJournal(w io.Writer) bool {
	file, ok := w.(*os.File)
	stream := os.Getenv("JOURNAL_STREAM")
	if !ok || stream == "" {
		return false
	}
	return stream == streamOf(file)
}

// ErrorPriority is the beginning of a line that the journal stores as an error.
const ErrorPriority = "<3>"

// priorities are the beginnings of the lines of each level.
var priorities = map[zapcore.Level]string{
	zapcore.DebugLevel: "<7>", zapcore.InfoLevel: "<6>", zapcore.WarnLevel: "<4>", zapcore.ErrorLevel: ErrorPriority,
}

// WithPriorities returns an encoder whose lines begin with their priority, by which
// `journalctl -p warning` selects them. The journal removes it.
func WithPriorities(encoder zapcore.Encoder) zapcore.Encoder { return withPriorities{encoder} }

type withPriorities struct{ zapcore.Encoder }

func (e withPriorities) Clone() zapcore.Encoder { return withPriorities{e.Encoder.Clone()} }

var buffers = buffer.NewPool()

func (e withPriorities) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil {
		return nil, err
	}
	defer line.Free()
	out := buffers.Get()
	priority, ok := priorities[entry.Level]
	if !ok {
		priority = ErrorPriority
	}
	out.AppendString(priority)
	_, err = out.Write(line.Bytes())
	return out, err
}
