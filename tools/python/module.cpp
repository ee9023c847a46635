// SPDX-License-Identifier: Apache-2.0
// assay._core: oracles/judging/submitted_result.h for Python. Everything that crosses is bytes, text, numbers, lists
// and dictionaries; a stranger's mistake is a ValueError, a mistake of ours a RuntimeError. src/assay/__init__.py gives
// it names and types.
#include "oracles/judging/submitted_result.h"
#include "reference/sequence.h"

#include <algorithm>
#include <cstring>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <string_view>

namespace nb = nanobind;

namespace assay {
namespace {

// Name ("" where the order tells), element type as assay writes it, extents, bytes in C order.
using Given = std::tuple<std::string, std::string, std::vector<Int>, nb::bytes>;

constexpr std::size_t most_dimensions = 64;

std::string covered_types() {
  return joined(all_dtypes, ", ", [](const DType each) { return std::string(name(each)); });
}

oracles::NamedTensor tensor_of(const Given& given) {
  const auto& [name, type, shape, bytes] = given;
  const std::optional<DType> dtype = dtype_named(type);
  if (!dtype) throw InputError("element type " + type + " is not covered; " + covered_types() + " are");
  if (shape.size() > most_dimensions) throw InputError("a tensor of " + std::to_string(shape.size()) + " dimensions");
  if (*dtype == DType::string && std::ranges::none_of(shape, [](Int extent) { return extent < 0; })) {
    std::optional<Tensor> strings = unpacked({*dtype, shape}, {bytes.c_str(), bytes.size()});
    if (!strings) throw InputError(std::to_string(bytes.size()) + " bytes do not make " + type + text(shape));
    return {name, *std::move(strings)};
  }
  Int size = 0;
  if (std::ranges::any_of(shape, [](Int extent) { return extent < 0; }) ||
      __builtin_mul_overflow(volume(shape), static_cast<Int>(size_of(*dtype)), &size) ||
      static_cast<std::size_t>(size) != bytes.size())
    throw InputError(std::to_string(bytes.size()) + " bytes do not make " + type + text(shape));
  Tensor tensor({*dtype, shape});
  std::memcpy(tensor.bytes().data(), bytes.c_str(), bytes.size());
  if (width_of(*dtype) < 8)
    for (std::byte& element : tensor.bytes()) element &= static_cast<std::byte>((1 << width_of(*dtype)) - 1);
  return {name, std::move(tensor)};
}

std::vector<oracles::NamedTensor> tensors_of(const std::vector<Given>& given) {
  return transformed<oracles::NamedTensor>(given, [](const Given& each) { return tensor_of(each); });
}

nb::object worst_of(const oracles::ExaminedResult& examined) {
  const auto& evidence = examined.worst ? examined.worst : examined.verdict.evidence;
  if (!evidence) return nb::none();
  nb::list taps;
  for (const oracles::ProofTerm& tap : evidence->taps) taps.append(nb::make_tuple(tap.where, nb::cast(tap.factors)));
  nb::dict out;
  out["index"] = nb::tuple(nb::cast(evidence->index));
  out["got"] = evidence->got;
  out["want"] = evidence->want;
  out["lower"] = evidence->lower;
  out["upper"] = evidence->upper;
  out["exact"] = evidence->exact;
  out["budget"] = evidence->budget;
  out["arithmetic"] = evidence->arithmetic;
  out["ulp"] = examined.worst ? nb::cast(examined.worst_ulp) : nb::none();
  out["taps"] = nb::tuple(taps);
  return out;
}

nb::dict said(const oracles::ExaminedResult& examined) {
  const oracles::Verdict& verdict = examined.verdict;
  nb::list rulings;
  for (const oracles::Ruled& each : examined.rulings) rulings.append(nb::make_tuple(each.id, each.reading, each.title));
  nb::dict out;
  out["operator"] = text(examined.version);
  out["output"] = examined.output;
  out["state"] = std::string(oracles::name(verdict.state));
  out["because"] = verdict.because;
  out["detail"] = verdict.detail;
  out["level"] = verdict.level ? nb::cast(std::string(oracles::name(*verdict.level))) : nb::none();
  out["violated"] = nb::tuple(nb::cast(examined.violated));
  out["rulings"] = nb::tuple(rulings);
  out["elements"] = verdict.elements;
  out["unscored"] = verdict.unscored;
  out["exact"] = verdict.exact;
  out["offenders"] = examined.offenders;
  out["worst"] = worst_of(examined);
  return out;
}

oracles::Judgement judgement_of(const std::string& level, const std::string& accumulator) {
  oracles::Judgement judgement;
  const auto named = oracles::level_named(level);
  if (!named) throw InputError("unknown level " + level);
  judgement.level = *named;
  if (!accumulator.empty()) judgement.arithmetic.accumulator = dtype_named(accumulator);
  return judgement;
}

nb::dict examine(const nb::bytes& model, const std::vector<Given>& inputs, const std::vector<Given>& outputs,
                 const std::string& level, const std::string& accumulator) {
  const oracles::SubmittedResult claim{std::string_view(model.c_str(), model.size()), tensors_of(inputs),
                                       tensors_of(outputs)};
  const oracles::Judgement judgement = judgement_of(level, accumulator);
  const Result<oracles::ExaminedResult> examined = [&] {
    const nb::gil_scoped_release others_may_run;
    return oracles::examine(claim, judgement);
  }();
  if (!examined) throw InputError(examined.error());
  return said(*examined);
}

}  // namespace
}  // namespace assay

NB_MODULE(_core, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const assay::InputError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  });
  module.attr("__version__") = ASSAY_VERSION;
  module.def("examine", &assay::examine, nb::arg("model"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("level"),
             nb::arg("accumulator"));
}
