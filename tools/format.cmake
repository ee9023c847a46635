# SPDX-License-Identifier: Apache-2.0
# Says which sources are not as .clang-format wants them. Repair: .deps/venv/bin/clang-format -i FILE...
file(GLOB_RECURSE sources RELATIVE "${ROOT}" "${ROOT}/reference/*.h" "${ROOT}/reference/*.cpp" "${ROOT}/oracles/*.h"
     "${ROOT}/oracles/*.cpp" "${ROOT}/generators/*.h" "${ROOT}/generators/*.cpp" "${ROOT}/suites/*.h"
     "${ROOT}/suites/*.cpp" "${ROOT}/reports/*.h" "${ROOT}/reports/*.cpp" "${ROOT}/tools/*.h" "${ROOT}/tools/*.cpp")
if(NOT sources)
  return()
endif()
execute_process(COMMAND "${CLANG_FORMAT}" --dry-run --Werror --ferror-limit=1 ${sources} WORKING_DIRECTORY "${ROOT}"
                RESULT_VARIABLE failed ERROR_VARIABLE complaints)
if(failed)
  string(REGEX MATCHALL "[^\n]*: error: [^\n]*" places "${complaints}")
  list(JOIN places "\n  " places)
  message(FATAL_ERROR "not formatted; repair with .deps/venv/bin/clang-format -i FILE...\n  ${places}")
endif()
