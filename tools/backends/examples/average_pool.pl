#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
# An assay worker without any ONNX or protobuf library: it reads the messages by hand and computes AveragePool itself, in f32
# over two axes without padding. Everything else it calls unsupported.
use strict;
use warnings;
use IO::Handle;
use JSON::PP;
use List::Util qw(sum);

my $json = JSON::PP->new->utf8->canonical;
open my $replies, '>&=', $ENV{ASSAY_REPLY_FD} or die "no descriptor for replies: $!";
binmode $_ for *STDIN, $replies;

sub refused { die { outcome => 'refused', because => "@_" } }
sub unsupported { die { outcome => 'unsupported', because => "@_" } }

sub read_varint {
    my ($bytes, $at) = @_;
    my $value = 0;
    for (my $shift = 0; $shift < 64; $shift += 7) {
        refused('the message ends too early') if $$at >= length $bytes;
        my $byte = ord substr $bytes, $$at++, 1;
        $value |= ($byte & 127) << $shift;
        return unpack 'q', pack 'Q', $value if $byte < 128;
    }
    refused('a number of more than 64 bits');
}

sub varint {
    my $value = shift;
    return $value < 128 ? chr $value : chr($value & 127 | 128) . varint($value >> 7);
}

# The fields of a message: number => [values].
sub fields {
    my $bytes = shift;
    my ($at, %fields) = (0);
    while ($at < length $bytes) {
        my $tag = read_varint($bytes, \$at);
        my ($number, $wire_type, $value) = ($tag >> 3, $tag & 7, read_varint($bytes, \$at));
        refused("no message of ONNX: wire type $wire_type") if $wire_type != 0 && $wire_type != 2;
        if ($wire_type == 2) {
            my $size = $value;
            refused('the message ends too early') if $size < 0 || $at + $size > length $bytes;
            $value = substr $bytes, $at, $size;
            $at += $size;
        }
        push @{ $fields{$number} }, $value;
    }
    return \%fields;
}

sub pool_of {
    my $graph = fields(fields(shift)->{7}[0] // '');
    my @nodes = map { fields($_) } @{ $graph->{1} // [] };
    unsupported('anything but one AveragePool') if @nodes != 1 || ($nodes[0]{4}[0] // '') ne 'AveragePool';
    my %pool = (strides => [1, 1], kernel_shape => [], inputs => scalar @{ $graph->{11} // [] });
    for my $attribute (map { fields($_) } @{ $nodes[0]{5} // [] }) {
        my $name = $attribute->{1}[0] // '';
        unsupported("the attribute $name") if $name ne 'strides' && $name ne 'kernel_shape';
        $pool{$name} = $attribute->{8};
    }
    unsupported('anything but two axes') if @{ $pool{kernel_shape} } != 2;
    return \%pool;
}

sub average {
    my ($pool, $tensor) = @_;
    my ($n, $c, @in) = @{ $tensor->{1} // [] };
    unsupported('anything but f32') if ($tensor->{2}[0] // 0) != 1;
    refused('four extents were expected') if @in != 2;
    my @x = unpack 'f<*', $tensor->{9}[0] // '';
    refused('dims and raw_data disagree') if @x != $n * $c * $in[0] * $in[1];
    my ($kernel, $strides) = @$pool{qw(kernel_shape strides)};
    my @out = map { int(($in[$_] - $kernel->[$_]) / $strides->[$_]) + 1 } 0, 1;
    refused('a window larger than its input') if grep { $in[$_] < $kernel->[$_] } 0, 1;
    my @taps = map { my $row = $_ * $in[1]; map { $row + $_ } 0 .. $kernel->[1] - 1 } 0 .. $kernel->[0] - 1;
    my @y;
    for my $line (map { my $plane = $_ * $in[0]; map { ($plane + $_ * $strides->[0]) * $in[1] } 0 .. $out[0] - 1 } 0 .. $n * $c - 1) {
        push @y, map { my $corner = $line + $_ * $strides->[1]; sum(@x[map { $corner + $_ } @taps]) / @taps } 0 .. $out[1] - 1;
    }
    return join('', map { "\x08" . varint($_) } $n, $c, @out) . "\x10\x01\x4a" . varint(4 * @y) . pack 'f<*', @y;
}

sub outputs_of {
    my ($model, @sets) = @_;
    my $pool = pool_of($model);
    return map { @$_ == 1 && $pool->{inputs} == 1 ? [average($pool, fields($_->[0]))] : refused('one input was expected') } @sets;
}

sub read_part {
    read(STDIN, my $part, $_[0]) == $_[0] or exit 1;  # stdin has ended
    return $part;
}

while (defined(my $line = <STDIN>)) {
    my ($question, $reply, @outputs) = $json->decode($line);
    if ($question->{ask} eq 'describe') {
        $reply = { assay => 1, backend => 'average_pool.pl', device => 'cpu', capabilities => { types => ['f32'] } };
    } elsif ($question->{ask} eq 'run') {
        my $model = read_part($question->{model});
        my @sets = map { [map { read_part($_) } @$_] } @{ $question->{sets} };
        @outputs = eval { outputs_of($model, @sets) };
        $reply = ref $@ ? $@ : $@ ? { outcome => 'refused', because => $@ } : { outcome => 'outputs', sets => [map { [map { length } @$_] } @outputs] };
        $reply->{id} = $question->{id};
    } else {
        die "an unknown question: $line";
    }
    print {$replies} $json->encode($reply), "\n", map { @$_ } @outputs;
    $replies->flush;
}
