// SPDX-License-Identifier: Apache-2.0
// What a case states where one version has an attribute and another an input that the call reads (Parameter::reads_as).
#pragma once

#include "generators/family.h"

namespace assay::generators {

// What is known of an operator of the family `moved`, which costs nothing to ask.
OperatorGenerator moving_generator(Case (*draw)(const Definition&, DType, std::uint64_t stratum),
                                   void (*refit)(Case&) = nullptr);
// The same with damages to the first input's shape and to what names its axes.
OperatorGenerator placing_generator(Case (*draw)(const Definition&, DType, std::uint64_t stratum), Ranks ranks,
                                    void (*refit)(Case&) = nullptr);
template <Int least, Int most = 7>
std::pair<Int, Int> axes(const Definition&) {
  return {least, most};
}

// A case whose first input has that shape, filled so that a wrong place shows.
Case moving(const Definition& definition, DType type, const Shape& shape);
// Inserts an axis of that extent anywhere.
void insert_axis(Shape& shape, Int extent);
// Axes of a tensor of that rank, each counted from either end where `from_end`, in any order.
Ints any_order(Ints axes, Int rank, bool from_end = true);
std::vector<Mutation> shape_damages();
// Gives the first input a number where strings are wanted.
Mutation numbers_for_strings();

// States integers under the name that the case's version has for them: as an attribute, or written out as an input,
// which is a constant as often as not.
void state(Case& c, std::string_view name, const Ints& values);

// The lists of integers that a case states, as attributes or as inputs that the call reads, by the name it reads them.
Names stated_lists(const Case& c);
Ints stated(const Case& c, const std::string& name);

// Makes a case legal that is not, by an entry of a list that stands for whatever is right; where none does, that entry
// is the whole list.
void leave_one_open(Case& c, const std::string& name, Int open);

// Gives an input that the call reads other values, one per element of the shape.
void write_out(Case& c, const std::string& input, Shape shape, const Ints& values);

// Damages to what the call reads from inputs, and to lists that are attributes: entries changed, added and left out;
// inputs of another type or rank or left out.
std::vector<Mutation> parameter_damages();

// Steps of shrinking: lists without an entry, and with an entry nearer to 1.
int entry_count(const Case& c);
Cases fewer_entries(const Case& c, int part);
Cases plainer_entries(const Case& c, int part);

}  // namespace assay::generators
