# SPDX-License-Identifier: Apache-2.0
# The Python module, where ASSAY_PYTHON_MODULE asks for it or a wheel is built (pyproject.toml). It needs nanobind in the
# environment of that Python, and its headers: Debian's python3-dev.
option(ASSAY_PYTHON_MODULE "build the Python module tools/python" OFF)

function(assay_python)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind 3.1 REQUIRED CONFIG)
  # A copy of its own of what it judges with: compiled for a shared library, and seen by nobody else in the process.
  assay_sources(reference reference)
  assay_sources(oracles oracles)
  nanobind_add_module(assay-python NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE
                      tools/python/module.cpp ${reference} ${oracles})
  target_compile_options(nanobind-static PRIVATE -w)
  target_compile_options(assay-python PRIVATE ${kernel_options})
  target_include_directories(assay-python PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(assay-python PRIVATE ASSAY_VERSION="${PROJECT_VERSION}")
  target_link_libraries(assay-python PRIVATE Boost::headers ONNX::onnx protobuf::libprotobuf OpenSSL::Crypto
                        mpfi mpfr gmp re2)
  target_link_options(assay-python PRIVATE -Wl,-Bsymbolic
                      "-Wl,--version-script=${PROJECT_SOURCE_DIR}/tools/python/exports.map")
  set_target_properties(assay-python PROPERTIES OUTPUT_NAME _core CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/assay")
  file(GLOB package CONFIGURE_DEPENDS tools/python/src/assay/*)
  add_custom_command(TARGET assay-python POST_BUILD COMMAND "${CMAKE_COMMAND}" -E copy_if_different ${package}
                     "${PROJECT_BINARY_DIR}/python/assay" VERBATIM)  # so it can be imported from there
  add_test(NAME tools_python.judge_test COMMAND "${ASSAY_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/python/judge_test.py"
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(tools_python.judge_test PROPERTIES
    ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
endfunction()

# What a wheel holds beside the Python files: the module, the whole tool below assay/prefix, and the libraries of Debian
# that both need, under names of their own.
function(assay_wheel)
  install(TARGETS assay-python LIBRARY DESTINATION assay)
  assay_install(assay/prefix/)
  install(CODE "execute_process(COMMAND \"${Python_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/python/bundle.py\"
                \"\${CMAKE_INSTALL_PREFIX}/assay\" COMMAND_ERROR_IS_FATAL ANY)")
endfunction()

# The plugin of pytest needs no compiled module: it calls the program.
add_test(NAME tools_python.pytest_test COMMAND "${ASSAY_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/python/pytest_test.py"
         WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(tools_python.pytest_test PROPERTIES
  ENVIRONMENT "ASSAY_BUILD=${PROJECT_BINARY_DIR};ASSAY_PYTHON=${ASSAY_PYTHON};PYTHONDONTWRITEBYTECODE=1")

if(SKBUILD)
  assay_python()
  assay_wheel()
elseif(ASSAY_PYTHON_MODULE)
  assay_python()
endif()
