# install_docs.cmake - rewrites the links of the installed documents, which in the sources lead to other folders: to files
# that are installed elsewhere, or, for files of the sources only, to plain text.
#
#	docs   the installed folder with README.md and docs/
#	data   the installed folder with scripts/, data/ and bench/
foreach(folder "" docs/)
	file(GLOB documents ${docs}/${folder}*.md)
	file(RELATIVE_PATH up ${docs}/${folder}. ${data})
	string(REPLACE docs/ "[.][.]/" base "${folder}")
	foreach(document IN LISTS documents)
		file(READ ${document} text)
		string(REGEX REPLACE "\\]\\(${base}(scripts/(cluster/)?[a-zA-Z_]+[.](py|sbatch|sh)|scripts/cluster/Snakefile)\\)"
			"](${up}/\\1)" text "${text}")
		string(REGEX REPLACE "\\]\\(${base}data(/[^)]*|)\\)" "](${up}\\1)" text "${text}")
		string(REGEX REPLACE
			"\\[([^]]*)\\]\\(${base}(primitives|stages|pipeline|bench|tests|python|packaging|cmake|[.]ci|scripts)(/[^)]*|)\\)"
			"\\1" text "${text}")
		file(WRITE ${document} "${text}")
	endforeach()
endforeach()
