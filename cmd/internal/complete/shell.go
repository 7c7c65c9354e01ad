package complete

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Files is the line that tells a shell to offer the names of files.
const Files = ":files"

// Shells are those for which there is a Script.
var Shells = []string{"bash", "zsh", "fish"}

// Script is what a shell reads to complete the command line of a program. It
// runs "PROGRAM completion words --shell SHELL -- WORD…" for each completion,
// which must print what Print does.
func Script(shell, program string) string {
	return strings.ReplaceAll(scripts[shell], "PROGRAM", program)
}

// In bash, '=' and ':' end words. They are put together again by the program,
// which knows what it left out (see Joined).
var scripts = map[string]string{
	"bash": `# bash completion of PROGRAM; load it with: source <(PROGRAM completion bash)
_PROGRAM() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			compopt -o filenames
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}")
		else
			[[ $line == *= ]] && compopt -o nospace
			COMPREPLY+=("$line")
		fi
	done < <("${COMP_WORDS[0]}" completion words --shell bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _PROGRAM PROGRAM
`,
	"zsh": `#compdef PROGRAM
# zsh completion of PROGRAM; load it with: source <(PROGRAM completion zsh)
_PROGRAM() {
	local line
	local -a described
	for line in "${(@f)$("${words[1]}" completion words --shell zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
			:files) compset -P '*='; _files ;;
			?*) described+=("$line") ;;
		esac
	done
	(( $#described )) && _describe PROGRAM described
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
`,
	"fish": `# fish completion of PROGRAM; load it with: PROGRAM completion fish | source
function __PROGRAM_words
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	for line in ($words[1] completion words --shell fish -- $words[2..-1] "$current" 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path "$current"
		else
			printf '%s\n' $line
		end
	end
end
complete -c PROGRAM -f -a '(__PROGRAM_words)'
`,
}

// Print writes what a shell's Script reads: a suggestion a line, and Files where
// files may stand there. cut is what Joined gave.
func Print(w io.Writer, shell string, s Suggestion, cut int, files bool) error {
	for _, x := range s.Words {
		if _, err := fmt.Fprintln(w, form(shell, x, cut)); err != nil {
			return fmt.Errorf("writing the output: %w", err)
		}
	}
	if files {
		if _, err := fmt.Fprintln(w, Files); err != nil {
			return fmt.Errorf("writing the output: %w", err)
		}
	}
	return nil
}

// form gives a word as a shell reads it.
func form(shell string, x Word, cut int) string {
	help, _, _ := strings.Cut(x.Help, ". ")
	switch shell {
	case "bash":
		return escaped(x.Text[min(cut, len(x.Text)):])
	case "zsh":
		text := strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(x.Text)
		if help != "" {
			text += ":" + help
		}
		return text
	}
	if help != "" {
		return x.Text + "\t" + help
	}
	return x.Text
}

// escaped puts a backslash before what bash would take for something else.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(" \t'\"\\$`*?&;|<>()[]{}!~#", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// breaks are what ends a word in bash, beside blanks.
const breaks = "=:"

// Joined puts words together that bash has taken apart at '=' and ':', and takes
// quotes from the last; those of other shells stay as they are. cut is how many
// bytes of the last word bash keeps by itself, so that a suggestion must not
// repeat them. Without words there is one, which is empty.
func Joined(shell string, words []string) (out []string, cut int) {
	if len(words) == 0 {
		return []string{""}, 0
	}
	if shell != "bash" {
		return slices.Clone(words), 0
	}
	apart := func(w string) bool { return w != "" && strings.Trim(w, breaks) == "" }
	for i, w := range words {
		last := i == len(words)-1
		if last {
			w = strings.TrimLeft(strings.ReplaceAll(w, `\`, ""), `'"`)
		}
		if len(out) == 0 || !apart(w) && !(i > 0 && apart(words[i-1])) {
			out = append(out, w)
			continue
		}
		if last && !apart(w) {
			cut = len(out[len(out)-1])
		}
		out[len(out)-1] += w
		if last && apart(w) {
			cut = len(out[len(out)-1])
		}
	}
	return out, cut
}
