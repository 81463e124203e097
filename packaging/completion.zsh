#compdef sonde
# Completion of sonde and its tools for zsh: commands and options are those that the help of the program lists.

# Options that a help text on stdin begins lines with.
_sonde_options() {
	sed -n 's/^    \(-[^ ].*\)/\1/p' | sed 's/  .*//' | tr ', ' '\n\n' | sed -n 's/^\(-[-a-zA-Z0-9]*\).*/\1/p' | sort -u
}

# What an option's value may be, where the help text on stdin has a|b|c behind it.
_sonde_choices() {
	awk -v o="$1" '/^    -/ { sub(/^    /, ""); sub(/  .*/, ""); n = split($0, w, /,? /); for (i = 1; i < n; i++) if (w[i] == o && w[n] ~ /[|]/) { gsub(/[|]/, "\n", w[n]); print w[n] } }'
}

_sonde_tools() {
	sonde tools 2>/dev/null | sed -n 's/^    \([-a-z0-9_]*\) .*/\1/p'
}

_sonde_commands() {
	sonde --help 2>/dev/null | sed -n '/^COMMANDS:/,/^$/s/^    \([a-z]*\).*/\1/p'
}

# One candidate per line, for the words that stand before the one to complete, and that one.
_sonde_candidates() {
	local cur=${argv[-1]} prev=${argv[-2]} first=
	(( $# > 2 )) && first=${argv[2]}
	if [[ $first == tools && $prev == -s ]]; then
		_sonde_tools
	elif [[ $prev == list || ($prev == (-l|--list) && $first == -*) ]]; then
		sonde -l "$cur*" 2>/dev/null | head -n 500
	elif [[ $prev == -* && -n $first && $cur != -* ]]; then
		sonde "$first" -h 2>/dev/null | _sonde_choices "$prev"
	elif [[ $cur == -* ]]; then
		if [[ -n $first && $first != (help|tools) ]] && { _sonde_commands; _sonde_tools } | grep -qx -- "$first"; then
			sonde "$first" -h 2>/dev/null | _sonde_options
		else
			sonde --help 2>/dev/null | _sonde_options
		fi
	elif [[ -z $first ]]; then
		_sonde_commands
		_sonde_tools
	fi
}

_sonde() {
	local -a found
	found=("${(@f)$(_sonde_candidates "${(@)words[1,CURRENT]}")}")
	if [[ -n $found ]]; then
		compadd -a found
	else
		_files
	fi
}

(( $+functions[compdef] )) && compdef _sonde sonde
