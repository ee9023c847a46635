// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/detached_signature.h"

#include "reference/result.h"
#include "suites/sandbox/process.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::uintmax_t longest_signature = 65'536;
constexpr std::chrono::seconds patience{30};

std::string signature_in(const fs::path& file) {
  Result<std::string> text = file_contents(file, longest_signature);
  if (!text) throw InputError("the signature: " + text.error());
  return *std::move(text);
}

fs::path existing(const std::string& file, const char* option) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    throw InputError(std::string(option) + " " + printable(file, 200) + ": there is no such file");
  return fs::absolute(file);
}

// Runs the tool, feeds it `input`, and hears what it says.
SignatureCheck heard(const Words& command, std::string_view input, const char* advice) try {
  Process process(command);
  Outgoing outgoing;
  outgoing.add(input);
  std::string ignored;
  const auto until = Clock::now() + patience;
  process.send(outgoing);  // wait() would go on waiting for news once all is sent
  while (!outgoing.is_empty() && process.is_listening() && Clock::now() < until)
    if (process.wait(outgoing, ignored, until).exited) break;
  process.finish(patience);
  return {process.ending() == "ended with exit code 0", printable(process.last_words(), 200)};
} catch (const InputError& error) {
  throw InputError(std::string(error.what()) + "; " + advice);
}

SignatureCheck check_minisign(std::string_view message, const std::string& signature, const Trust& trust) {
  if (trust.key.empty())
    throw InputError("this is a signature of minisign: say whose with --public-key, a key or its file");
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "message", beside = folder.path() / "message.minisig";
  write_file(file, message);
  write_file(beside, signature);
  std::error_code ignored;  // a key may hold a slash
  const bool is_key = trust.key.starts_with("RW") && trust.key.size() == 56 && !fs::exists(trust.key, ignored);
  const std::string key = is_key ? trust.key : existing(trust.key, "--public-key").string();
  return heard({"minisign", "-V", "-m", file.string(), "-x", beside.string(), is_key ? "-P" : "-p", key}, "",
               "install minisign (Debian: apt-get install minisign)");
}

SignatureCheck check_ssh(std::string_view message, const std::string& signature, const Trust& trust) {
  if (trust.signers.empty() || trust.signer.empty())
    throw InputError("this is a signature of ssh-keygen: say whose with --allowed-signers FILE and --signer NAME");
  const TemporaryDirectory folder;
  const fs::path beside = folder.path() / "message.sig";
  write_file(beside, signature);
  return heard({"ssh-keygen", "-Y", "verify", "-f", existing(trust.signers, "--allowed-signers").string(), "-I",
                trust.signer, "-n", std::string(signature_namespace), "-s", beside.string()},
               message, "install OpenSSH (Debian: apt-get install openssh-client)");
}

}  // namespace

SignatureCheck check_signature(std::string_view message, const fs::path& file, const Trust& trust) {
  const std::string signature = signature_in(file);
  if (signature.starts_with("untrusted comment:")) return check_minisign(message, signature, trust);
  if (signature.starts_with("-----BEGIN SSH SIGNATURE-----")) return check_ssh(message, signature, trust);
  throw InputError(file.string() + " is a signature of neither minisign nor ssh-keygen");
}

}  // namespace assay::suites
