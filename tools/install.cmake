# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs, and the Debian package that `cpack -G DEB` makes of it. Everything is found from where
# the program lies (suites/workers/places.h), so the tree may be moved:
#
#   bin/assay      libexec/assay/    the workers that are programs, and backends/*.so
#                  share/assay/      tools/backends, suites/conformance and the schemas, as in the project

# PREFIX: the folder of that tree below the prefix of the installation, "" or as in "assay/prefix/".
function(assay_install prefix)
  set(programs assay-worker-reference assay-worker-host)
  set(adapters assay-native-onnxruntime assay-native-tract)
  install(TARGETS assay RUNTIME DESTINATION ${prefix}bin)
  install(TARGETS ${programs} RUNTIME DESTINATION ${prefix}libexec/assay)
  install(TARGETS ${adapters} LIBRARY DESTINATION ${prefix}libexec/assay/backends)
  set(share ${prefix}share/assay)
  install(DIRECTORY tools/backends DESTINATION ${share}/tools USE_SOURCE_PERMISSIONS
          REGEX "/backends/[a-z_]*\\.cpp$|_test\\.py$|/FINDINGS\\.md$" EXCLUDE
          REGEX "/(__pycache__|node_modules|target)$|/Cargo\\.lock$" EXCLUDE)
  install(DIRECTORY suites/conformance DESTINATION ${share}/suites FILES_MATCHING PATTERN "*.cases")
  install(DIRECTORY suites/golden/runner DESTINATION ${share}/suites/golden)
  install(FILES suites/expectations/ledger.schema.json DESTINATION ${share}/suites)
  file(GLOB schemas CONFIGURE_DEPENDS reports/*.schema.json)
  install(FILES ${schemas} DESTINATION ${share}/reports)
  install(FILES suites/golden/node_tests.py DESTINATION ${share}/suites/golden)  # of golden audit
  install(FILES LICENSE DESTINATION ${prefix}share/doc/assay RENAME copyright)
  install(FILES README.md CHANGELOG.md DESTINATION ${prefix}share/doc/assay)
  assay_told(assay.1 ${prefix}share/man/man1 man)
  assay_told(assay ${prefix}share/bash-completion/completions completion bash)
  assay_told(_assay ${prefix}share/zsh/vendor-completions completion zsh)
  assay_told(assay.fish ${prefix}share/fish/vendor_completions.d completion fish)
endfunction()

# FILE in FOLDER is what the program prints when it is called with these words.
function(assay_told file folder)
  set(said "${PROJECT_BINARY_DIR}/installed/${file}")
  list(JOIN ARGN "\" \"" words)
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/installed\")
execute_process(COMMAND \"$<TARGET_FILE:assay>\" \"${words}\" OUTPUT_FILE \"${said}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES "${said}" DESTINATION ${folder})
endfunction()

function(assay_package)
  set(CPACK_PACKAGE_NAME assay)
  set(CPACK_PACKAGE_CONTACT "The authors of assay <assay@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "certifies ONNX backends against the text of the standard")
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"assay asks a runtime thousands of small models, one operator version at a time,
and holds every answer against the text of the ONNX standard, computed exactly,
with a proven bound on what rounding may do.
.
Real backends are installed by name, hash-locked, in a cache of the user:
assay backends install onnxruntime.")
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                  WORLD_READ WORLD_EXECUTE)
  set(CPACK_GENERATOR DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.11)")  # the workers of backends that speak Python
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-venv")    # assay backends install
  include(CPack)
endfunction()
