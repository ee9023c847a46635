// SPDX-License-Identifier: Apache-2.0
// A signature somebody made beside a file with a standard tool, checked by that tool:
//
//   minisign    minisign -S -m cert.json                       -> cert.json.minisig
//   OpenSSH     ssh-keygen -Y sign -f KEY -n assay cert.json   -> cert.json.sig
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::suites {

// Whom to believe.
struct Trust {
  std::string key;      // minisign: a public key, or the file that holds one
  std::string signers;  // OpenSSH: the file of allowed signers (ssh-keygen(1), ALLOWED SIGNERS)
  std::string signer;   // OpenSSH: the one of them who should have signed
};

inline constexpr std::string_view signature_namespace = "assay";  // of OpenSSH

// What the tool said of a good signature, or of a bad one, in one line.
struct SignatureCheck {
  bool is_good = false;
  std::string said;
};

// Tells whether `signature`, a file of either kind, is one of `message`. Throws InputError where the file is of neither
// kind, the key is not given or not there, or the tool is not installed.
SignatureCheck check_signature(std::string_view message, const std::filesystem::path& signature, const Trust& trust);

}  // namespace assay::suites
