// SPDX-License-Identifier: Apache-2.0
// Places: where scripts, programs and installed backends lie. Each throws InputError, in one line that says what to do,
// where it does not find its place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::suites {

// Tells whether a regular file lies there; what may not be looked at is none.
bool is_file(const std::filesystem::path& path);
std::filesystem::path running_program();

// tools/backends of ASSAY_HOME, of a folder above the running program, or of share/assay in one.
std::filesystem::path backends_folder();

// reports/ beside it, with the schemas of reports and certificates.
std::filesystem::path reports_folder();

// What we built: assay-worker-reference and the like, beside the running program, in tools/ beside it, or, where it is
// installed, in libexec/assay.
std::filesystem::path programs_folder();

// ASSAY_PYTHON, or the .deps/venv of the project, or python3.
std::string python();

// Tells whether that interpreter finds all of these; the one of the project has what setup.sh put there. Asked once.
bool python_has(const std::vector<std::string>& modules);

// Runs a program to its end: with our streams, or with none. Returns its exit code, or 128 and the signal that ended
// it. Throws InputError where it cannot be started.
enum class Streams { ours, none };
int exit_code_of(const std::vector<std::string>& command, Streams streams = Streams::ours);

// ASSAY_CACHE, or assay/ in XDG_CACHE_HOME, or ~/.cache/assay. It need not exist.
std::filesystem::path cache_folder();

}  // namespace assay::suites
