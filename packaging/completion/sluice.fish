# Completion of sluice and sluice-bench for fish: asks the program.
function __sluice_complete
	set -l words (commandline -opc)
	set -l program $words[1]
	set -l last (commandline -ct)
	set -l path (string replace -r -- '^--[^=]*=' '' "$last")
	set -l lead (string sub -e -(string length -- "$path") -- "$last")

	set -e words[1]
	test -n "$path"; or set lead "$last"
	for line in ($program complete $words "$last" 2>/dev/null)
		switch $line
			case :files
				complete -C "no_such_command $path" | string replace -r -- '^' "$lead"
			case :folders
				complete -C "no_such_command $path" | string match '*/*' | string replace -r -- '^' "$lead"
			case '*'
				echo $line
		end
	end
end
complete -c sluice -f -a '(__sluice_complete)'
complete -c sluice-bench -f -a '(__sluice_complete)'
