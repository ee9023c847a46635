// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/model_variants.h"

#include <algorithm>

namespace assay::suites {
namespace {

using Aspect = ModelVariant::Aspect;

// The IR version an opset was published with (onnx/docs/Versioning.md, "Released versions").
int ir_version_of(int opset) {
  if (opset <= 8) return 3;
  if (opset <= 11) return opset - 5;
  if (opset <= 14) return 7;
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

class Others {
 public:
  // `names`: a seed for other names.
  Others(const Case& c, const Settings& requested, const Description& backend, int names)
      : c_(c), requested_(requested), backend_(backend), names_(names) {}

  std::vector<ModelVariant> all() {
    put_weights();
    put_shapes();
    put_opset();
    put_ir_version();
    put_settings();
    return std::move(found_);
  }

 private:
  void add(Aspect aspect, std::string name, Case c) {
    if (!c.is_legal() || !excluded_by(backend_, c).empty() || c == c_) return;
    found_.push_back({aspect, std::move(name), std::move(c), requested_});
  }

  // Every operand but the data itself, all of them constants or none.
  void put_weights() {
    const auto is_constant = [](const auto& source) { return source.second.initializer; };
    const bool makes_constant = std::ranges::none_of(c_.sources, is_constant);
    const std::string& data = c_.definition().data().name;
    Case other = c_;
    for (auto& [input, source] : other.sources) source.initializer = makes_constant && input != data;
    add(Aspect::weights, makes_constant ? "weights=constant" : "weights=inputs", std::move(other));
  }

  void put_shapes() {
    static constexpr std::pair<DeclaredShapes, const char*> variants[] = {{DeclaredShapes::fixed, "shapes=fixed"},
                                                                          {DeclaredShapes::symbolic, "shapes=symbolic"},
                                                                          {DeclaredShapes::absent, "shapes=absent"}};
    for (const auto& [declared, name] : variants) {
      Case other = c_;
      other.declared = declared;
      add(Aspect::shapes, name, std::move(other));
    }
  }

  // The ends of the opsets in which this version is in force.
  void put_opset() {
    const Operator& op = *find_operator(c_.version.domain, c_.version.name);
    int last = c_.version.since_version;
    const int newest = backend_.newest_opset > 0 ? std::min(backend_.newest_opset, newest_opset) : newest_opset;
    for (int opset = last; opset <= newest; ++opset)
      if (const Definition* at = op.at(opset); at && at->version == c_.version) last = opset;
    if (!c_.version.domain.empty()) return;  // com.microsoft has one opset
    for (int opset : {c_.version.since_version, last}) {
      Case other = c_;
      other.opset = opset;
      other.ir_version = std::max(c_.ir_version, ir_version_of(opset));
      if (opset != c_.opset) add(Aspect::opset, "opset=" + std::to_string(opset), std::move(other));
    }
  }

  void put_ir_version() {
    Case other = c_;
    other.ir_version = ir_version_of(c_.opset);
    const std::string name = "ir=" + std::to_string(other.ir_version);
    if (c_.version.domain.empty()) add(Aspect::ir_version, name, std::move(other));
  }

  template <class F>
  void put_setting(F&& change) {
    Settings other = requested_;
    const std::string name = change(other);
    if (other != requested_) found_.push_back({Aspect::settings, name, c_, other});
  }

  void put_settings() {
    put_setting([](Settings& other) {
      other.optimization = other.optimization == "none" ? "all" : "none";
      return "optimization=" + other.optimization;
    });
    put_setting([](Settings& other) {
      other.threads = other.threads == 1 ? 2 : 1;
      return "threads=" + std::to_string(other.threads);
    });
    put_setting([&](Settings& other) { return "names=" + std::to_string(other.names = names_); });
    put_setting([&](Settings& other) {
      other.binds_outputs = backend_.binds_outputs;
      return std::string("outputs=bound");
    });
  }

  const Case& c_;
  const Settings& requested_;
  const Description& backend_;
  int names_;
  std::vector<ModelVariant> found_;
};

}  // namespace

std::vector<ModelVariant> presentations(const SuiteCase& planned, const Settings& requested, const Description& backend,
                                        VariantSampling presenting) {
  if (presenting == VariantSampling::none) return {};
  // Whether a case is run otherwise is drawn first: most never have their variants worked out.
  constexpr std::size_t one_in = 8, most_names = 1000;
  const std::size_t draw = std::stoul(case_id(planned.line).substr(0, 8), nullptr, 16);
  const bool is_set = !planned.presented_by.empty();
  if (presenting == VariantSampling::sample && !is_set && draw % one_in != 0) return {};
  if (!planned.c.is_legal()) return {};
  const int names = 1 + static_cast<int>(draw % most_names);
  std::vector<ModelVariant> all = Others(planned.c, requested, backend, names).all();
  if (presenting == VariantSampling::all) return all;
  if (is_set) {
    std::erase_if(all, [&](const ModelVariant& each) { return !each.name.starts_with(planned.presented_by); });
    return all;
  }
  return {std::move(all[draw / one_in % all.size()])};
}

}  // namespace assay::suites
