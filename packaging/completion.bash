# Completion of sonde and its tools for bash: commands and options are those that the help of the program lists.

# Options that a help text on stdin begins lines with.
_sonde_options() {
	sed -n 's/^    \(-[^ ].*\)/\1/p' | sed 's/  .*//' | tr ', ' '\n\n' | sed -n 's/^\(-[-a-zA-Z]*\).*/\1/p' | sort -u
}

# What an option's value may be, where the help text on stdin has a|b|c behind it.
_sonde_choices() {
	awk -v o="$1" '/^    -/ { sub(/^    /, ""); sub(/  .*/, ""); n = split($0, w, /,? /); for (i = 1; i < n; i++) if (w[i] == o && w[n] ~ /[|]/) { gsub(/[|]/, "\n", w[n]); print w[n] } }'
}

_sonde_tools() {
	"$1" tools 2>/dev/null | sed -n 's/^    \([-a-z0-9_]*\) .*/\1/p'
}

_sonde_commands() {
	"$1" --help 2>/dev/null | sed -n '/^COMMANDS:/,/^$/s/^    \([a-z]*\).*/\1/p'
}

_sonde() {
	local sonde=$1 line=${COMP_LINE:0:COMP_POINT} cur first of= help=() words=() list i
	cur=${line##*[[:space:]]}
	read -ra words <<<"${line% *}"
	local prev=${words[-1]}
	first=${words[1]-}
	[ "$first" = "$cur" ] && first=
	COMPREPLY=()
	case ${sonde##*/} in
	sonde)
		case $first in
		tools | help | -* | '') help=("$sonde" --help) ;;
		*)
			if _sonde_commands "$sonde" | grep -qx -- "$first"; then
				help=("$sonde" "$first" -h)
			elif _sonde_tools "$sonde" | grep -qx -- "$first"; then
				help=("$sonde" "$first" -h) of=tool
			fi
			;;
		esac
		;;
	*) help=("$sonde" -h) first=tool of=tool ;;
	esac
	case $of$prev in
	-p | --pid | tool-p | tool--pid | --dwarf-pid) list=$(ls /proc 2>/dev/null | grep '^[0-9]') ;;
	-f) list=$("$sonde" -f help 2>/dev/null | sed -n 's/^\([a-z][a-z]*\) .*/\1/p') ;;
	-s) [ "$first" != tools ] || list=$(_sonde_tools "$sonde") ;;
	-l | --list | list)
		local bare=${cur#[\'\"]}
		list=$("$sonde" -l "$bare*" 2>/dev/null | head -n 500)
		;;
	esac
	if [ -z "$list" ] && [ ${#help[@]} != 0 ] && [[ $prev == -* ]]; then
		list=$("${help[@]}" 2>/dev/null | _sonde_choices "$prev")
	fi
	if [ -z "$list" ]; then
		case $cur in
		-*) [ ${#help[@]} = 0 ] || list=$("${help[@]}" 2>/dev/null | _sonde_options) ;;
		*)
			[ ${#words[@]} = 1 ] && [ "$first" != tool ] &&
				list="$(_sonde_commands "$sonde") $(_sonde_tools "$sonde")"
			;;
		esac
	fi
	local quote=${cur%"${cur#[\'\"]}"}
	mapfile -t COMPREPLY < <(compgen -W "$list" -- "${cur#[\'\"]}")
	# What stands before a colon is a word of its own for bash, unless it is quoted.
	if [ -z "$quote" ] && [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*:}"}"}
		done
	fi
}
# A link to this file by a tool's name is for that tool.
complete -o bashdefault -o default -F _sonde sonde "${BASH_SOURCE[0]##*/}"
