// SPDX-License-Identifier: Apache-2.0
// Certificate: what a backend may be relied on for, operator version by operator version and type by type, bound by
// digests to the report it was read off, to the suite, the tool and the files that were run (certificate.schema.json).
// It is a function of these: neither times nor hosts are in it.
#pragma once

#include "reports/report.h"
#include "suites/workers/artefacts.h"

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace assay::reports {

inline constexpr int certificate_version = 1;

// What a report does not say and a certificate states.
struct Sealing {
  std::string tool_sha256;
  suites::Artefacts artefacts;
  Int generated = 0;          // cases drawn from the generators
  std::string ledger;         // as named on the command line
  std::string report_sha256;  // report_identity() of the report's text
};

// Why there can be no certificate of this report, in one line; nothing where there can. A report over part of the
// suite, one that holds a crash, one in which no value was judged, and one measured against a baseline have none.
std::optional<std::string> obstacle(const Report& report);

void write_certificate(const Report& report, const Sealing& sealing, std::ostream& out);

// The same of a report that is not written yet.
std::string report_identity(const Report& report);

// SHA-256 over the text of a report before its line `  "run":`, which holds times and hosts:
//   sed '/^  "run":/,$d' report.json | sha256sum
// Nothing where there is no such line.
std::optional<std::string> report_identity(std::string_view report);

// SHA-256 over the text of a certificate before its last line but one, `  "digest": "…"`. Nothing where the text does
// not end as a certificate does.
std::optional<std::string> certificate_digest(std::string_view certificate);

}  // namespace assay::reports
