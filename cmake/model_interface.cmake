# model_interface.cmake - writes the header OUT with the version of the files that are compiled with external models
# (docs/external-models.md): a digest of their contents. LIST is a file with their names, in the folder FROM.
file(STRINGS ${LIST} names)
set(digests)
foreach(name ${names})
	file(SHA256 ${FROM}/${name} digest)
	string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 version "${digests}")
string(SUBSTRING ${version} 0 16 version)
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define SL_MODEL_INTERFACE \"${version}\"\n")
