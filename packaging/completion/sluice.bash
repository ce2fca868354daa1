# Completion of sluice and sluice-bench for bash: asks the program. readline replaces only the part of a word after
# the last '=' or ':' if these separate words, so only that part is a reply.
_sluice()
{
	local line last start='' breaks=${COMP_WORDBREAKS//[^=:]/}
	local -a words

	COMPREPLY=()
	read -ra words <<<"${COMP_LINE:0:COMP_POINT}." # with the dot, a space at the end begins a word
	last=${words[-1]%.}
	words[-1]=$last
	[[ -z $breaks ]] || start=${last%"${last##*["$breaks"]}"}
	while IFS=$'\t' read -r line _; do
		case $line in
		:files) compopt -o default ;;
		:folders) compopt -o dirnames ;;
		*) COMPREPLY+=("${line#"$start"}") ;;
		esac
	done < <("$1" complete "${words[@]:1}" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -F _sluice sluice sluice-bench
