//! The functions that a query may call: they compute, or read what the role may read, and nothing else.
//!
//! A name is on the list only if each function of Postgres with this name is harmless. Never on it: functions that write, wait, lock,
//! signal, connect, read files, or run SQL from a text (`ts_rewrite`, `ts_stat`, `query_to_xml`, `cursor_to_xml`, `table_to_xml`,
//! `dblink`, `crosstab`, `connectby`, `xpath_table`), those that take a number of a transaction (`txid_current`), and those that
//! nothing can stop (`xpath`, `xmltable`: libxml2 evaluates without looking at Postgres' timeouts and signals).

use std::{collections::HashSet, sync::LazyLock};

const LISTS: [&str; 14] = [
    AGGREGATES,
    MATHEMATICS,
    TEXTS,
    REGULAR_EXPRESSIONS,
    DATES,
    JSON,
    ARRAYS_AND_RANGES,
    TEXT_SEARCH,
    NETWORK_AND_GEOMETRY,
    XML,
    TYPES,
    CATALOGUE,
    EXTENSIONS,
    POSTGIS,
];

/// Aggregates and functions of windows.
const AGGREGATES: &str = "
    any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank every
    first_value grouping json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique
    json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique
    jsonb_object_agg_unique_strict lag last_value lead max min mode nth_value ntile percent_rank percentile_cont percentile_disc
    range_agg range_intersect_agg rank regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    row_number stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance xmlagg";

const MATHEMATICS: &str = "
    abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh bit_count cbrt ceil ceiling cos cosd cosh cot cotd degrees
    div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod numeric_div_trunc pi pow power radians random
    random_normal round scale sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket
    crc32 crc32c gen_random_uuid md5 sha224 sha256 sha384 sha512 uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
    hash_aclitem hash_array hash_multirange hash_numeric hash_range hashbpchar hashchar hashenum hashfloat4 hashfloat8 hashinet hashint2
    hashint4 hashint8 hashmacaddr hashmacaddr8 hashname hashoid hashtext
    get_bit get_byte set_bit set_byte num_nonnulls num_nulls";

const TEXTS: &str = "
    ascii bit_length btrim casefold char_length character_length chr concat concat_ws convert convert_from convert_to decode encode
    format initcap is_normalized left length like_escape lower lpad ltrim normalize octet_length overlay parse_ident position
    quote_ident quote_literal quote_nullable repeat replace reverse right rpad rtrim similar_escape similar_to_escape split_part
    starts_with string_to_array string_to_table strpos substr substring to_ascii to_bin to_hex to_oct translate unicode_assigned
    unicode_version unistr upper";

const REGULAR_EXPRESSIONS: &str = "
    regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr";

const DATES: &str = "
    age clock_timestamp current_date current_time current_timestamp date_add date_bin date_part date_subtract date_trunc extract
    isfinite justify_days justify_hours justify_interval localtime localtimestamp make_date make_interval make_time make_timestamp
    make_timestamptz now overlaps pg_timezone_abbrevs pg_timezone_names statement_timestamp timeofday timezone to_char to_date
    to_number to_timestamp transaction_timestamp";

const JSON: &str = "
    array_to_json json json_array json_array_elements json_array_elements_text json_array_length json_arrayagg json_build_array
    json_build_object json_each json_each_text json_exists json_extract_path json_extract_path_text json_object json_object_keys
    json_objectagg json_populate_record json_populate_recordset json_query json_scalar json_serialize json_strip_nulls
    json_to_record json_to_recordset json_typeof json_value jsonb jsonb_array_elements jsonb_array_elements_text
    jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_contained jsonb_contains jsonb_delete
    jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path
    jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
    jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
    jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset
    jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof row_to_json to_json
    to_jsonb";

const ARRAYS_AND_RANGES: &str = "
    array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions array_prepend
    array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_string array_upper cardinality
    generate_series generate_subscripts trim_array unnest
    datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange nummultirange
    numrange range_contained_by range_contains range_intersect range_merge range_minus range_overlaps range_union tsmultirange
    tsrange tstzmultirange tstzrange upper_inc upper_inf
    enum_first enum_last enum_range bernoulli system system_rows system_time";

const TEXT_SEARCH: &str = "
    array_to_tsvector get_current_ts_config json_to_tsvector jsonb_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree
    setweight strip to_tsquery to_tsvector ts_debug ts_delete ts_filter ts_headline ts_lexize ts_parse ts_rank ts_rank_cd
    ts_token_type tsquery_phrase tsvector_to_array websearch_to_tsquery";

const NETWORK_AND_GEOMETRY: &str = "
    abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask network set_masklen
    area bound_box box center circle diagonal diameter height isclosed ishorizontal isopen isparallel isperp isvertical line lseg
    npoints path pclose point polygon popen radius slope width";

const XML: &str = "
    xml xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document xmlcomment xmlconcat xmlelement
    xmlforest xmlparse xmlpi xmlroot xmlserialize xmltext";

/// Types, which can be called to convert a value.
const TYPES: &str = "
    bit bool bpchar bytea char cidr date float4 float8 inet int2 int4 int8 interval macaddr macaddr8 money name numeric oid pg_lsn
    regclass regcollation regnamespace regrole regtype text time timestamp timestamptz timetz tsquery tsvector uuid varbit varchar
    citext hstore ltree cube";

/// Functions that describe the database and the session.
const CATALOGUE: &str = "
    col_description current_catalog current_database current_role current_schema current_schemas current_setting current_user
    format_type getdatabaseencoding has_any_column_privilege has_column_privilege has_database_privilege has_function_privilege
    has_schema_privilege has_sequence_privilege has_table_privilege has_type_privilege obj_description pg_char_to_encoding
    pg_client_encoding pg_collation_for pg_column_compression pg_column_is_updatable pg_column_size pg_database_size
    pg_describe_object pg_encoding_to_char pg_function_is_visible pg_get_constraintdef pg_get_expr pg_get_function_arguments
    pg_get_function_identity_arguments pg_get_function_result pg_get_functiondef pg_get_indexdef pg_get_keywords
    pg_get_partition_constraintdef pg_get_partkeydef pg_get_ruledef pg_get_serial_sequence pg_get_statisticsobjdef
    pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_has_role pg_identify_object pg_index_column_has_property
    pg_index_has_property pg_indexam_has_property pg_indexes_size pg_input_error_info pg_input_is_valid pg_is_in_recovery
    pg_jit_available pg_opclass_is_visible pg_operator_is_visible pg_partition_ancestors pg_partition_root pg_partition_tree
    pg_postmaster_start_time pg_relation_is_updatable pg_relation_size pg_size_bytes pg_size_pretty pg_table_is_visible
    pg_table_size pg_total_relation_size pg_type_is_visible pg_typeof row_security_active session_user shobj_description
    system_user to_regclass to_regcollation to_regnamespace to_regrole to_regtype user version";

/// Functions of extensions for texts, arrays, hashes, vectors and time series.
const EXTENSIONS: &str = "
    similarity show_trgm strict_word_similarity word_similarity
    daitch_mokotoff difference dmetaphone dmetaphone_alt levenshtein levenshtein_less_equal metaphone soundex unaccent
    akeys avals defined exist hstore_to_array hstore_to_json hstore_to_json_loose hstore_to_jsonb hstore_to_jsonb_loose
    hstore_to_matrix skeys slice slice_array svals
    index lca ltree2text nlevel subltree subpath text2ltree
    icount idx intarray_del_elem intset sort sort_asc sort_desc subarray uniq
    crypt digest gen_salt hmac
    uuid_generate_v1 uuid_generate_v1mc uuid_generate_v3 uuid_generate_v4 uuid_generate_v5 uuid_nil uuid_ns_dns uuid_ns_oid
    uuid_ns_url uuid_ns_x500
    earth earth_box earth_distance gc_to_sec latitude ll_to_earth longitude sec_to_gc
    cube_dim cube_distance cube_enlarge cube_inter cube_is_point cube_ll_coord cube_size cube_subset cube_union cube_ur_coord
    normal_rand
    binary_quantize cosine_distance inner_product jaccard_distance l1_distance l2_distance l2_norm l2_normalize subvector
    vector_dims vector_norm
    approx_count_distinct first hist histogram interpolate last locf time_bucket time_bucket_gapfill";

/// Functions of PostGIS for vector data. Those for rasters can read files, and so can `st_transform`, whose texts may name grids.
const POSTGIS: &str = "
    box2d box3d geography geometry geometrytype
    st_3ddistance st_addpoint st_angle st_area st_asbinary st_asewkb st_asewkt st_asgeojson st_asgml st_askml st_asmvt st_asmvtgeom st_assvg
    st_astext st_astwkb st_azimuth st_boundary st_buffer st_buildarea st_centroid st_closestpoint st_clusterdbscan
    st_clusterkmeans st_clusterwithin st_collect st_concavehull st_contains st_containsproperly st_convexhull st_coorddim
    st_coveredby st_covers st_crosses st_difference st_dimension st_disjoint st_distance st_distancesphere st_distancespheroid
    st_dump st_dumppoints st_dumprings st_dwithin st_endpoint st_envelope st_equals st_expand st_extent st_exteriorring
    st_flipcoordinates st_force2d st_force3d st_frechetdistance st_dfullywithin st_geohash st_geomcollfromtext st_geometryfromtext st_geometryn
    st_geometrytype st_geomfromewkb st_geomfromewkt st_geomfromgeohash st_geomfromgeojson st_geomfromtext st_geomfromwkb
    st_geogfromtext st_geographyfromtext st_hasarc st_hausdorffdistance st_hexagongrid st_interiorringn st_intersection
    st_intersects st_isclosed st_isempty st_isring st_issimple st_isvalid st_isvaliddetail st_isvalidreason st_length
    st_length2d st_linefromtext st_lineinterpolatepoint st_linelocatepoint st_linemerge st_linesubstring st_longestline st_m
    st_makeenvelope st_makeline st_makepoint st_makepolygon st_makevalid st_maxdistance st_minimumboundingcircle st_multi
    st_ndims st_npoints st_nrings st_numgeometries st_numinteriorrings st_numpoints st_orderingequals st_overlaps st_perimeter
    st_point st_pointfromgeohash st_pointfromtext st_pointn st_pointonsurface st_points st_polygon st_polygonfromtext
    st_polygonize st_project st_reduceprecision st_relate st_reverse st_rotate st_scale st_segmentize st_setsrid st_shortestline
    st_simplify st_simplifypreservetopology st_snap st_snaptogrid st_split st_squaregrid st_srid st_startpoint st_subdivide
    st_summary st_symdifference st_tileenvelope st_touches st_translate st_unaryunion st_union st_voronoipolygons
    st_within st_x st_xmax st_xmin st_y st_ymax st_ymin st_z st_zmax st_zmin";

static HARMLESS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = LISTS.iter().flat_map(|list| list.split_ascii_whitespace());
    lists.collect()
});

/// Returns true for a function of the list, named as Postgres stores its name.
pub fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(name)
}

/// Returns all names of the list.
#[cfg(test)]
pub fn all() -> Vec<&'static str> {
    HARMLESS.iter().copied().collect()
}
